"""Try it on past answers: the form, the result, and what is kept of it."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from selection import job_messages, tasks
from selection.models import Pool, Replay, Run
from selection.replays import plays, replay_requests
from tests.pages import admin_url, text_of
from tests.pasts import write_past
from tests.worlds import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

FORM = admin_url("run_past")


@pytest.fixture(autouse=True)
def few_plays(monkeypatch):
    monkeypatch.setattr(plays, "SEEDS", 2)
    monkeypatch.setattr(replay_requests, "A_TURN", 1000.0)
    monkeypatch.setattr(job_messages.current_app, "send_task", lambda *args, **options: None)


@pytest.fixture
def filled(tmp_path) -> dict[str, object]:
    answers, key = write_past(tmp_path, [0.95, 0.9, 0.5, 0.4], 40)
    return {
        "answers": SimpleUploadedFile("past.csv", answers.read_bytes()),
        "key": SimpleUploadedFile("key.csv", key.read_bytes()),
        "k": 2,
        "precise": "0.2",
        "sure": "0.1",
        "price": "0.05",
        "currency": "€",
    }


def result_url() -> str:
    return reverse("admin:selection_run_past_result", args=[Replay.objects.get().pk])


def test_the_overview_leads_to_the_form(requester):
    assert f'href="{FORM}"' in requester.get("/admin/").content.decode()
    assert "Replay these answers" in text_of(requester.get(FORM))


def test_files_are_replayed_and_the_page_says_how_many_were_enough(requester, filled):
    answer = requester.post(FORM, filled)
    assert answer["Location"] == result_url()
    waiting = requester.get(result_url())
    assert "160 answers are read" in text_of(waiting)
    assert "data-going" in waiting.content.decode()
    tasks.replay(str(Replay.objects.get().pk))
    page = requester.get(result_url())
    text = text_of(page)
    assert "of 160 answers would have been enough" in text
    assert "instead of €8.00" in text
    assert "the best 2 of 4 workers, within 20 points of the best, 90 % sure" in text
    assert "data-going" not in page.content.decode()
    before_details = text.split("Details")[0]
    assert "ε" not in before_details
    assert "δ" not in before_details
    numbers = requester.get(result_url() + "numbers/")
    assert numbers.content.decode().count("<svg") == 3


def test_without_a_method_that_stops_the_page_says_so(requester, filled):
    requester.post(FORM, filled | {"precise": "0.02", "sure": "0.01", "budget": "20"})
    tasks.replay(str(Replay.objects.get().pk))
    text = text_of(requester.get(result_url()))
    assert "All 160 answers were not enough" in text
    assert "with a budget of 20 answers" in text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"key": ""}, "past.csv has no column with the known answers, such as “gold”"),
        ({"answers": "", "key": ""}, "Upload a file with answers, or choose a run or a question"),
        ({"k": 4}, "K"),
    ],
)
def test_a_fault_is_one_sentence_on_the_form(requester, filled, changes, sentence):
    answer = requester.post(FORM, filled | changes)
    assert answer.status_code == 200
    assert sentence in text_of(answer)
    assert not Replay.objects.exists()


def test_a_large_files_fault_is_shown_on_its_page(requester, filled, monkeypatch):
    monkeypatch.setattr(replay_requests, "SMALL", 0)
    requester.post(FORM, filled | {"key": ""})
    tasks.replay(str(Replay.objects.get().pk))
    page = requester.get(result_url())
    assert "past.csv has no column with the known answers" in text_of(page)
    assert "Upload other answers" in text_of(page)


def test_one_click_makes_a_pool_or_a_draft(requester, filled):
    requester.post(FORM, filled)
    tasks.replay(str(Replay.objects.get().pk))
    requester.post(result_url(), {"do": "pool"})
    assert Pool.objects.get().name == "Workers of past.csv"
    requester.post(result_url(), {"do": "draft", "algorithm": "credible"})
    run = Run.objects.get()
    assert (run.status, run.algorithm, run.k, run.currency) == ("draft", "credible", 2, "€")


def test_a_poll_reads_no_large_column(requester, filled):
    requester.post(FORM, filled)
    tasks.replay(str(Replay.objects.get().pk))
    url = result_url() + "numbers/"
    with CaptureQueriesContext(connection) as queries:
        assert requester.get(url).status_code == 200
    read = " ".join(query["sql"] for query in queries)
    assert '"selection_replay"."tallies"' in read
    assert not any(f'"selection_replay"."{name}"' in read for name in Replay.LARGE)


def test_the_answers_are_deleted_on_request(requester, filled):
    requester.post(FORM, filled)
    assert requester.post(result_url(), {"do": "delete"})["Location"] == FORM
    assert not Replay.objects.exists()


def test_a_run_without_answers_is_refused_on_the_form(requester):
    run = make_run()
    data = {"run": run.pk, "k": 2, "precise": "0.1", "sure": "0.05"}
    assert "has no answers yet" in text_of(requester.post(FORM, data))

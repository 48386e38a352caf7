"""The join link, and leaving a run."""

from urllib.parse import urlencode

import pytest
from django.test import Client

from selection import engine
from selection.models import Candidate, Run, Worker
from selection.runs import lifecycle, worker_texts
from selection.runs.roster import roster_opening
from selection.runs.worker_texts import PageFacts
from selection.worker import links
from tests.worlds import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return make_run(n=0, enrolling=True)


def link(run: Run) -> str:
    return links.join_address(run).removeprefix("http://127.0.0.1:8000")


def text(response) -> str:
    return response.content.decode()


@pytest.mark.parametrize("name", ["worker", "workerId", "PROLIFIC_PID"])
def test_a_platforms_link_joins_and_leads_to_the_workers_own_page(client, run, name):
    key = "60a1" * 6
    first = client.get(link(run), {name: key})
    own = run.candidates.get(worker__key=key)
    assert first.url == f"/work/{links.worker_token(own.pk)}/"
    assert client.get(link(run), {name: key}).url == first.url
    assert client.get(first.url).status_code == 200
    assert run.candidates.count() == 1


def test_join_link_without_an_id_asks_for_one(client, run):
    assert "Enter your worker id" in text(client.get(link(run)))
    strict = Client(enforce_csrf_checks=True)
    joined = strict.post(link(run), {"worker": " anna "})
    own = run.candidates.get(worker__key="anna")
    assert joined.url == f"/work/{links.worker_token(own.pk)}/?go"


UNFILLED = ["{{%PROLIFIC_PID%}}", "%7B%7B%25PROLIFIC_PID%25%7D%7D", "${workerId}", "[worker_id]"]
UNFILLED += ["<id>", "%PID%", "PROLIFIC_PID", "workerId", "undefined", "null", "", " "]
ODD = ["60a1\u202e", "\u200b60a1", "60\ufeffa1", "60a1\u200e", "60\ufffda1", "x" * 201]


@pytest.mark.parametrize("key", UNFILLED + ODD)
def test_unfilled_platform_id_is_refused_and_no_worker_stored(client, run, key):
    """Check the refusal: all visitors without an id would share a worker otherwise."""
    response = client.get(link(run), {"PROLIFIC_PID": key})
    assert response.status_code == 422
    assert "does not contain a readable worker id" in text(response)
    assert "Enter your worker id" in text(response)
    assert not Worker.objects.exists()


def test_typed_id_of_a_platform_visitor_still_leads_back_to_the_platform(client, run):
    asked = link(run) + "?" + urlencode({"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "SESSION_ID": "x-7"})
    own = client.post(asked, {"worker": "60a1"}).url
    candidate = run.candidates.get()
    assert (candidate.platform, candidate.task) == ("prolific", "x-7")
    assert BACK in text(client.get(f"{own}=20"))
    client.post(asked.replace("x-7", "x-8"), {"worker": "60a1"})
    candidate.refresh_from_db()
    assert candidate.task == "x-7"  # typed ids are unverified


def test_language_link_keeps_the_parameters_of_the_platform(client, run):
    given = {"PROLIFIC_PID": "", "SESSION_ID": "x-7"}
    kept = 'href="?PROLIFIC_PID=&amp;SESSION_ID=x-7&amp;language=de"'
    assert kept in text(client.get(link(run), given))
    asked = f"{link(run)}?{urlencode(given)}"
    assert kept in text(client.post(asked, {"worker": ""}))
    lifecycle.stop_run(run)
    assert kept in text(client.get(link(run), given))


def test_existing_worker_with_an_odd_id_returns_by_it(client, run):
    client.get(link(run), {"worker": "anna"})
    Worker.objects.update(key="an\u200bna")
    assert client.get(link(run), {"worker": "an\u200bna"}).status_code == 302


def test_typed_id_never_leads_to_the_page_of_another_worker(client, run):
    client.post(link(run), {"worker": "anna"})
    again = client.post(link(run), {"worker": "anna"})
    assert again.status_code == 409
    assert "This id takes part already" in text(again)


def test_invalid_typed_id_is_asked_for_again(client, run):
    response = client.post(link(run), {"worker": " "})
    assert response.status_code == 422
    assert "1 to 200 characters" in text(response)


def test_a_closed_roster_says_so_kindly_and_makes_no_worker(client, run):
    for key in ("a", "b", "c"):
        client.get(link(run), {"worker": key})
    roster_opening.close_roster(run)
    for response in (
        client.get(link(run)),
        client.get(link(run), {"worker": "late"}),
        client.post(link(run), {"worker": "late"}),
    ):
        assert response.status_code == 409
        assert "Nobody can join any more" in text(response)
    assert not Worker.objects.filter(key="late").exists()
    assert client.get(link(run), {"worker": "a"}).status_code == 302


def test_a_draft_and_a_run_that_is_over_say_so(client, run):
    draft = make_run(start=False, enrolling=True)
    assert "It has not begun yet" in text(client.get(link(draft)))
    lifecycle.stop_run(run)
    assert "This test is over" in text(client.get(link(run)))


def test_preview_of_a_task_joins_no_worker(client, run):
    asked = {"workerId": "anna", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}
    assert "Accept the task to begin" in text(client.get(link(run), asked))
    del asked["workerId"]  # as in real previews
    assert "Accept the task to begin" in text(client.get(link(run), asked))
    assert not run.candidates.exists()


def test_a_link_that_was_changed_leads_nowhere(client, run):
    token = link(run).split("/")[2]
    for bad in (token[:-1], "1", links.worker_token(run.pk)):
        assert client.get(f"/join/{bad}/").status_code == 404


# -- leaving


@pytest.fixture
def worker() -> Candidate:
    run = make_run()
    engine.advance(run.pk)
    return run.candidates.order_by("arm").first()


def page_of(worker: Candidate) -> str:
    return f"/work/{links.worker_token(worker.pk)}/"


def test_a_worker_stops_after_having_been_asked_twice(client, worker):
    assert 'href="?leave"' in text(client.get(page_of(worker)))
    asked = text(client.get(page_of(worker), {"leave": ""}))
    assert "Stop taking part?" in asked
    worker.refresh_from_db()
    assert worker.gone == ""
    left = text(client.post(page_of(worker), {"leave": "yes"}, follow=True))
    assert "You have stopped" in left
    assert 'href="?leave"' not in left
    worker.refresh_from_db()
    assert worker.gone == "left"
    assert worker.run.events.first().kind == "leave"


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ("withdrawn", "You were taken out of this test"),
        ("absent", "You were away for a long time"),
    ],
)
def test_removed_worker_is_told_the_reason(client, worker, gone, words):
    Candidate.objects.filter(pk=worker.pk).update(gone=gone)
    assert words in text(client.get(page_of(worker)))


def test_leaving_a_run_that_is_over_is_thanked(client, worker):
    lifecycle.stop_run(worker.run)
    left = text(client.post(page_of(worker), {"leave": "yes"}, follow=True))
    assert "Thank you" in left
    assert client.post("/work/1.x/", {"leave": "yes"}).status_code == 404


# -- back to Prolific

ARRIVAL = {"PROLIFIC_PID": "60a1" * 6, "STUDY_ID": "s1", "SESSION_ID": "x-77"}
BACK = "https://app.prolific.com/submissions/complete?cc="


def test_prolific_worker_gets_the_code_of_their_outcome(client, run):
    worker_texts.change_facts(
        run, PageFacts(codes={"done": "C1", "screened": "C2", "nothing": "C3"})
    )
    own = client.get(link(run), ARRIVAL).url
    candidate = run.candidates.get()
    assert (candidate.platform, candidate.task) == ("prolific", "x-77")
    assert BACK not in text(
        client.post(own, {"start": "yes"}, follow=True)
    )  # the first question comes
    assert f'href="{BACK}C3"' in text(client.get(own))
    client.post(own, {"leave": "yes"})
    assert f'href="{BACK}C2"' in text(client.get(own))


def test_prolific_worker_who_comes_too_late_gets_the_link_back(client, run):
    worker_texts.change_facts(run, PageFacts(codes={"nothing": "C3"}))
    lifecycle.stop_run(run)
    assert f'href="{BACK}C3"' in text(client.get(link(run), ARRIVAL))
    assert BACK not in text(client.get(link(run), {"worker": "anna"}))


def test_returning_participant_gets_their_own_code_after_the_end(client, run):
    own = client.get(link(run), ARRIVAL).url
    lifecycle.stop_run(run)
    assert client.get(link(run), ARRIVAL).url == own
    over = client.get(own)
    assert (over.status_code, BACK in text(over)) == (410, True)


def test_visitor_of_another_platform_sees_no_link_to_prolific(client, run):
    assert BACK not in text(client.get(client.get(link(run), {"worker": "anna"}).url))


def test_malformed_task_of_a_platform_is_not_stored(client, run):
    client.get(link(run), ARRIVAL | {"SESSION_ID": "<b>"})
    assert run.candidates.get().task == ""
    client.get(link(run), {"workerId": "60a1" * 6, "assignmentId": "3ABC"})
    candidate = run.candidates.get()
    assert (candidate.platform, candidate.task) == ("mturk", "3ABC")


@pytest.mark.parametrize("key", ["60a1", "60A1" * 6, "g0a1" * 6, "60a1" * 7])
def test_an_id_that_is_none_of_prolifics_does_not_join(client, run, key):
    refused = client.get(link(run), {"PROLIFIC_PID": key})
    assert refused.status_code == 422
    run.platform = "prolific"
    run.save()
    typed = client.post(link(run), {"worker": key})
    assert typed.status_code == 422
    assert "An id of Prolific has 24 characters" in text(typed)
    assert not run.candidates.filter(worker__key=key).exists()

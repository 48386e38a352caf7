"""Try it on past answers: the form, the result, and the stored parts."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from crowdselect.past_answers import plays, replay_requests
from crowdselect.past_answers.models import Replay
from crowdselect.past_answers.records import AnswerRecord
from selection import privacy, tasks
from selection.models import Pool, Run, Worker
from tests.pages import admin_url, text_of
from tests.pasts import write_past
from tests.worlds import make_pool, make_run

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.any_database,
    pytest.mark.usefixtures("few_plays"),
]

FORM = admin_url("run_past")


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
    assert "160 answers read." in text_of(waiting)
    assert "data-going" in waiting.content.decode()
    tasks.work_on_long_job(str(Replay.objects.get().pk))
    page = requester.get(result_url())
    text = text_of(page)
    assert "of 160 answers would have been enough" in text
    assert "instead of €8.00" in text
    assert "the best 2 of 4 workers, within 20 points of the best, with 90% confidence" in text
    assert "data-going" not in page.content.decode()
    before_details = text.split("Details")[0]
    assert "ε" not in before_details
    assert "δ" not in before_details
    assert page.content.decode().count("<svg") == 3


def test_page_says_if_no_method_stops(requester, filled):
    requester.post(FORM, filled | {"precise": "0.02", "sure": "0.01", "budget": "20"})
    tasks.work_on_long_job(str(Replay.objects.get().pk))
    text = text_of(requester.get(result_url()))
    assert "All 160 answers were not enough" in text
    assert "with a budget of 20 answers" in text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"key": ""}, "past.csv has no column with the correct answers, such as “gold”"),
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
    tasks.work_on_long_job(str(Replay.objects.get().pk))
    page = requester.get(result_url())
    assert "past.csv has no column with the correct answers" in text_of(page)
    assert "Upload other answers" in text_of(page)


def test_erased_worker_is_a_pseudonym_in_replays_that_stay(requester, filled):
    requester.post(FORM, filled)
    tasks.work_on_long_job(str(Replay.objects.get().pk))
    before = Replay.objects.get()
    assert before.state == Replay.State.DONE
    worker = Worker.objects.create(pool=make_pool(0), key="w1")
    erased = privacy.erase_worker([worker], "ada").pseudonym
    after = Replay.objects.get()
    assert [tally[1:] for tally in after.tallies] == [tally[1:] for tally in before.tallies]
    assert after.tallies[0][0] == erased
    text = str((after.tallies, after.plays, after.facts)) + str(
        AnswerRecord.unpack(bytes(after.content))
    )
    assert "'w1'" not in text
    assert erased in text_of(requester.get(result_url()))


def test_replay_that_plays_during_an_erasure_stores_no_name(requester, filled, monkeypatch):
    def erase(*args):
        privacy.erase_worker([Worker.objects.create(pool=make_pool(0), key="w1")], "ada")
        return play(*args)

    requester.post(FORM, filled)
    play = plays.play
    monkeypatch.setattr(plays, "play", erase)
    tasks.work_on_long_job(str(Replay.objects.get().pk))
    replay = Replay.objects.get()
    assert (replay.state, replay.plays) == ("waiting", [])
    assert "w1" not in str(replay.tallies)


def test_click_makes_a_pool_or_a_draft(requester, filled):
    requester.post(FORM, filled)
    tasks.work_on_long_job(str(Replay.objects.get().pk))
    requester.post(result_url(), {"do": "pool"})
    assert Pool.objects.get().name == "Workers of past.csv"
    requester.post(result_url(), {"do": "draft", "algorithm": "credible"})
    run = Run.objects.get()
    assert (run.status, run.algorithm, run.k, run.currency) == ("draft", "credible", 2, "€")


def test_a_poll_reads_no_large_column(requester, filled):
    requester.post(FORM, filled)
    tasks.work_on_long_job(str(Replay.objects.get().pk))
    url = result_url()
    with CaptureQueriesContext(connection) as queries:
        assert requester.get(url).status_code == 200
    read = " ".join(query["sql"] for query in queries)
    assert '"selection_job"."result"' in read
    assert '"selection_job"."content"' not in read


def test_the_answers_are_deleted_on_request(requester, filled):
    requester.post(FORM, filled)
    assert requester.post(result_url(), {"do": "delete"})["Location"] == FORM
    assert not Replay.objects.exists()


def test_a_run_without_answers_is_refused_on_the_form(requester):
    run = make_run()
    data = {"run": run.pk, "k": 2, "precise": "0.1", "sure": "0.05"}
    assert "has no answers yet" in text_of(requester.post(FORM, data))


# -- columns that were not recognised

COLUMNS = {"k": 1, "precise": "0.2", "sure": "0.1"}
OWN = "Wer;Frage;Antwort;Zeit\nann;q1;ja;3\nbob;q1;nein;4\nann;q2;ja;3\nbob;q2;ja;5\n"


def send(requester, answers: str, key: str = ""):
    files = {"answers": SimpleUploadedFile("past.csv", answers.encode())}
    files |= {"key": SimpleUploadedFile("key.csv", key.encode())} if key else {}
    return requester.post(FORM, COLUMNS | files, follow=True)


def graded() -> list[object]:
    return AnswerRecord.unpack(bytes(Replay.objects.get().content)).rows


def test_scores_are_shown_as_means_and_make_no_draft(requester, filled):
    rows = [
        f"w{worker},t{task},{mean + 0.05 * (task % 3 - 1):.2f},a score from 0 to 1"
        for worker, mean in enumerate((0.95, 0.9, 0.5, 0.4))
        for task in range(40)
    ]
    table = "\n".join(["worker,task,label,gold", *rows]).encode()
    del filled["key"]
    requester.post(FORM, filled | {"answers": SimpleUploadedFile("scores.csv", table)})
    tasks.work_on_long_job(str(Replay.objects.get().pk))
    page = requester.get(result_url())
    text = text_of(page)
    assert "Mean score" in text
    assert "95% of 40" in text
    assert "credible: Credible counts answers as right or wrong" in text
    assert 'id="keep-pool"' in page.content.decode()
    assert 'id="keep-draft"' not in page.content.decode()
    refused = requester.post(result_url(), {"do": "draft", "algorithm": "certified"}, follow=True)
    assert "These answers are scores, and a run counts right and wrong ones." in text_of(refused)
    assert not Run.objects.exists()


RIGHT = [("ann", "q1", True), ("bob", "q1", False), ("ann", "q2", True), ("bob", "q2", True)]


def test_columns_of_answers_and_of_their_key_are_chosen_one_file_after_the_other(requester):
    page = send(requester, OWN, "Nummer;Wert;Notiz\nq1;ja;x\nq2;ja;x\n")
    assert "couldn’t tell which columns hold the Question and the Correct answer" in text_of(page)
    page = requester.post(
        page.request["PATH_INFO"], {"columns": "1", "question": "0", "answer": "1"}, follow=True
    )
    text = text_of(page)
    assert "couldn’t tell which column holds the Worker ID. Choose it below" in text
    assert "Question ← Frage, Answer ← Antwort" in text
    assert "bob q1 nein 4" in text
    chosen = {"columns": "1", "worker": "0", "question": "1", "response": "2"}
    page = requester.post(page.request["PATH_INFO"], chosen, follow=True)
    assert page.request["PATH_INFO"] == result_url()
    assert graded() == RIGHT


def test_the_column_with_the_correct_answers_is_chosen_too(requester):
    text = OWN.replace("Wer", "Person").replace("Zeit", "Sollwert")
    text = text.replace(";3", ";ja").replace(";4", ";ja").replace(";5", ";ja")
    page = send(requester, text)
    assert "hold the Worker ID and the Correct answer" in text_of(page)
    assert "If the correct answers are in another file, upload both files." in text_of(page)
    chosen = {"columns": "1", "worker": "0", "question": "1", "response": "2", "answer": "3"}
    wrong = requester.post(page.request["PATH_INFO"], chosen | {"answer": "0"}, follow=True)
    assert "The column “Person” is chosen twice" in text_of(wrong)
    requester.post(page.request["PATH_INFO"], chosen)
    assert graded() == RIGHT


def test_the_worker_of_a_survey_and_another_header_row_are_chosen(requester):
    survey = "Umfrage;;\nStand Mai;;\nWer bist du;q1;q2\nann;ja;ja\nbob;nein;ja\n"
    page = send(requester, survey, "question,gold\nq1,ja\nq2,ja\n")
    at = page.request["PATH_INFO"]
    page = requester.post(at, {"columns": "1", "header": "1"}, follow=True)
    assert "We couldn’t tell" in text_of(page)
    page = requester.post(at, {"columns": "1", "header": "3"}, follow=True)
    assert "2 questions ← columns of the same name" in text_of(page)
    chosen = {"columns": "1", "worker": "0", "shape": "survey", "questions": ["1", "2"]}
    requester.post(at, chosen)
    assert sorted(graded()) == sorted(RIGHT)


def test_a_fault_in_the_chosen_columns_is_told_and_other_files_can_be_chosen(requester):
    page = send(requester, OWN)
    at = page.request["PATH_INFO"]
    chosen = {"columns": "1", "worker": "0", "question": "1", "response": "2", "answer": "3"}
    page = requester.post(at, chosen)
    assert "“q1” has another correct answer than in line 2" in text_of(page)
    assert Replay.objects.get().state == "asking"
    assert requester.post(at, {"cancel": "1"})["Location"] == f"{FORM}?k=1&precise=0.2&sure=0.1"
    assert not Replay.objects.exists()


def test_a_program_is_not_asked_for_columns(requester, token):
    send(requester, OWN)
    headers = {"authorization": f"Bearer {token}"}
    waiting = Replay.objects.get().pk
    assert requester.get(f"/api/replays/{waiting}", headers=headers).status_code == 404


# -- choices between results, and rows with an error


def results_file(*metrics: str) -> SimpleUploadedFile:
    rows = [
        {"doc_id": item, "doc_hash": str(item), "model": model, "metrics": [*metrics]}
        | {name: int((item + place) % 5 < share) for place, name in enumerate(metrics)}
        for model, share in (("a", 5), ("b", 4), ("c", 1))
        for item in range(40)
    ]
    return SimpleUploadedFile("joined.jsonl", "\n".join(map(json.dumps, rows)).encode())


def test_the_metric_is_chosen_and_read(requester):
    settings = {"k": 1, "precise": "0.2", "sure": "0.1"}
    answer = requester.post(FORM, settings | {"answers": results_file("acc", "f1")}, follow=True)
    text = text_of(answer)
    assert "joined.jsonl has several results for each answer." in text
    assert "acc f1" in text
    columns = answer.request["PATH_INFO"]
    assert "has no metric “other”" in text_of(requester.post(columns, {"metric": "other"}))
    assert requester.post(columns, {"metric": "f1"})["Location"] == result_url()
    assert Replay.objects.get().state == "waiting"
    assert Replay.objects.get().wanted["picked"] == {"metric": "f1"}


def test_rows_with_an_error_are_shown_and_left_out_on_request(requester, filled):
    filled["answers"] = SimpleUploadedFile(
        "past.csv", filled["answers"].read() + "\nw0,t1,\nw1,t2,\ufffd\n".encode()
    )
    answer = requester.post(FORM, filled, follow=True)
    text = text_of(answer)
    assert "past.csv : 2 rows cannot be read or graded." in text
    assert "is empty." in text
    assert "There is an unreadable character" in text
    requester.post(answer.request["PATH_INFO"], {"leave_out": "1"})
    replay = Replay.objects.get()
    assert (replay.state, replay.facts["answers"], replay.facts["bad"]) == ("waiting", 160, 2)

"""Assignments and answers by the API."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from selection import engine
from selection.models import Answer, Assignment, RecordedAnswer
from selection.questions import corrections
from tests.worlds import kept_run, make_run, open_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(token):
    return Client(headers={"authorization": f"Bearer {token}"})


@pytest.fixture
def run():
    run = make_run(algorithm="adaptive-top-k")
    engine.advance(run.pk)
    return run


def post(api, path, body):
    return api.post(f"/api/{path}", body, content_type="application/json")


def test_invalid_token_is_answered_with_how_to_send_one(client, run):
    for headers in ({}, {"authorization": "Bearer wrong"}):
        reply = client.get(f"/api/runs/{run.pk}", headers=headers)
        assert reply.status_code == 401
        assert "Authorization: Bearer" in reply.json()["error"]


def test_run_is_shown_with_its_progress(api, run):
    shown = api.get(f"/api/runs/{run.pk}").json()
    assert (shown["status"], shown["progress"]["outstanding"], shown["k"]) == ("running", 12, 2)


def test_open_assignments_are_listed_without_their_answers(api, run):
    listed = api.get(f"/api/runs/{run.pk}/assignments?limit=5").json()
    assert len(listed) == 5
    shown = {"id", "worker", "skill", "question", "prompt", "kind", "choices", "due_at"}
    assert set(listed[0]) == shown
    mine = api.get(f"/api/runs/{run.pk}/assignments", {"worker": listed[0]["worker"]}).json()
    assert {row["worker"] for row in mine} == {listed[0]["worker"]}


def test_answer_is_created_once_and_its_outcome_stays_hidden(api, run):
    path = f"assignments/{open_of(run)[0].pk}/answer"
    first = post(api, path, {"response": "yes"})
    again = post(api, path, {"response": "yes"})
    assert (first.status_code, again.status_code) == (201, 200)
    assignment = open_of(run)[0].pk - 1
    assert first.json() == {"assignment": assignment, "duplicate": False, "kept": True}
    assert again.json()["duplicate"]
    assert Answer.objects.get().response == "yes"


def test_a_second_and_different_answer_is_a_conflict_and_the_first_counts(api, run):
    path = f"assignments/{open_of(run)[0].pk}/answer"
    post(api, path, {"response": "yes"})
    other = post(api, path, {"response": "no"})
    assert other.status_code == 409
    assert other.json() == {
        "error": "This question was answered otherwise already: the first answer counts."
    }
    assert Answer.objects.get().response == "yes"


def test_a_late_answer_is_a_conflict_in_one_line(api, run):
    late = open_of(run)[0]
    Assignment.objects.filter(pk=late.pk).update(due=timezone.now() - timedelta(minutes=1))
    reply = post(api, f"assignments/{late.pk}/answer", {"response": "yes"})
    assert reply.status_code == 409
    assert reply.json() == {"error": "Too late: the time to answer this question was up."}


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("assignments/999999/answer", {"response": "yes"}, 404, "no such assignment"),
        ("assignments/1/answer", {"reply": "yes"}, 422, "response"),
        ("assignments/x/answer", {"response": "yes"}, 422, "assignment_id"),
        ("runs/999999/transitions/start", {}, 404, "The object is not in your team."),
        ("runs/{run}/transitions/start", {}, 409, "is running"),
        ("runs/{run}/answers", {"answers": [{"worker": "w1"}]}, 422, "question"),
    ],
)
def test_refusal_explains_itself_in_one_line(api, run, path, body, status, words):
    reply = post(api, path.format(run=run.pk), body)
    assert reply.status_code == status
    assert words in reply.json()["error"]
    assert "\n" not in reply.json()["error"]


def test_recorded_answers_are_taken_and_bad_rows_named(api, run):
    out = open_of(run)[0]
    rows = [
        {"worker": out.candidate.worker.key, "question": out.question.key, "response": "yes"},
        {"worker": "nobody", "question": "q1", "response": "yes"},
    ]
    reply = post(api, f"runs/{run.pk}/answers", {"answers": rows}).json()
    assert (reply["recorded_answers"], reply["waiting_answers"]) == (1, 0)
    assert reply["problems"] == [{"row": 2, "reason": "There is no worker “nobody” in this run."}]


def test_standings_and_selection_are_returned(api):
    run = kept_run()
    standings = api.get(f"/api/runs/{run.pk}/standings").json()
    assert [line["selected"] for line in standings] == [True, True] + [False] * 4
    selection = api.get(f"/api/runs/{run.pk}/selection").json()
    assert selection["certified"]
    assert {row["worker"] for row in selection["workers"]} == {"w0", "w1"}


def test_moves_change_the_status_of_a_run(api, run):
    assert post(api, f"runs/{run.pk}/transitions/pause", {}).json()["status"] == "paused"
    assert post(api, f"runs/{run.pk}/transitions/resume", {}).json()["status"] == "running"
    assert post(api, f"runs/{run.pk}/transitions/stop", {}).json()["ending"] == "stopped"


def test_an_answer_to_a_question_that_was_retired_meanwhile_is_not_kept_and_that_is_said(api, run):
    out = open_of(run)[0]
    corrections.retire_question(out.question, "ada", "ambiguous")
    reply = post(api, f"assignments/{out.pk}/answer", {"response": "yes"})
    assert (reply.status_code, reply.json()["kept"]) == (200, False)
    sent = [{"assignment": pk, "response": "yes"} for pk in (out.pk, open_of(run)[0].pk)]
    rows = post(api, "answers", {"answers": sent}).json()["results"]
    assert [(row["status"], row["kept"]) for row in rows] == [(200, False), (201, True)]


def test_the_reason_of_a_move_is_kept_in_the_history(api, run):
    for move, why in (("pause", "the weekend"), ("resume", "Monday"), ("stop", "enough")):
        assert post(api, f"runs/{run.pk}/transitions/{move}", {"reason": why}).status_code == 200
    assert [event.why for event in run.events.all()][:3] == ["enough", "Monday", "the weekend"]
    assert post(api, f"runs/{run.pk}/transitions/stop", {"why": "enough"}).status_code == 422


def test_the_api_documents_itself(client):
    assert client.get("/api/docs").status_code == 200
    paths = client.get("/api/openapi.json").json()["paths"]
    assert "/api/assignments/{assignment_id}/answer" in paths


def with_choices(run, *choices: str, **fields: object) -> None:
    run.question_set.questions.update(choices=list(choices), **fields)


def test_an_answer_outside_the_choices_is_refused_with_the_list_of_them(api, run):
    with_choices(run, "yes", "no")
    path = f"assignments/{open_of(run)[0].pk}/answer"
    reply = post(api, path, {"response": "maybe"})
    assert reply.status_code == 422
    assert reply.json() == {"error": "“maybe” is not among the choices: yes | no."}
    assert not Answer.objects.exists()
    assert post(api, path, {"response": " YES"}).status_code == 201
    assert Answer.objects.get().right


def test_a_number_may_be_written_in_another_way_than_its_choice(api, run):
    with_choices(run, "3.5", "4.5", accepted=["3.5"], grading={"number": True})
    path = f"assignments/{open_of(run)[0].pk}/answer"
    assert post(api, path, {"response": "3,50"}).status_code == 201
    assert Answer.objects.get().right


def test_answers_outside_the_choices_are_named_or_counted_as_wrong(api, run):
    with_choices(run, "yes", "no")
    out = open_of(run)[0]
    row = {"worker": out.candidate.worker.key, "question": out.question.key, "response": "maybe"}
    refused = post(api, f"runs/{run.pk}/answers", {"answers": [row]}).json()
    why = "“maybe” is not among the choices: yes | no."
    assert refused == {
        "recorded_answers": 0,
        "waiting_answers": 0,
        "problems": [{"row": 1, "reason": why}],
    }
    taken = post(api, f"runs/{run.pk}/answers", {"answers": [row], "on_mismatch": "wrong"}).json()
    assert taken == {"recorded_answers": 1, "waiting_answers": 0, "problems": []}
    assert not Answer.objects.get().right


def test_first_of_several_answers_counts_and_the_others_are_named(api, run):
    asked = {one.question.key for one in open_of(run)}
    key = next(q.key for q in run.question_set.questions.all() if q.key not in asked)
    rows = [{"worker": "w0", "question": key, "response": word} for word in ("yes", "no", "eh")]
    reply = post(api, f"runs/{run.pk}/answers", {"answers": rows}).json()
    assert (reply["recorded_answers"], reply["waiting_answers"]) == (0, 1)
    assert [problem["row"] for problem in reply["problems"]] == [2, 3]
    assert "in row 1 already; the first answer counts" in reply["problems"][0]["reason"]
    assert RecordedAnswer.objects.get().response == "yes"


def test_swapped_fields_are_told_in_one_sentence(api, run):
    rows = [{"worker": f"q{i}", "question": "w0", "response": "yes"} for i in range(50)]
    reply = post(api, f"runs/{run.pk}/answers", {"answers": rows})
    assert reply.status_code == 422
    assert "The column “question” has this run's workers" in reply.json()["error"]

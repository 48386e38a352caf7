"""Questions for present workers, and answers in batches."""

from datetime import timedelta

import pytest
from django.utils import timezone

from selection import engine
from selection.models import Answer, Assignment
from selection.runs import lifecycle
from selection.runs.roster import membership
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    run = make_run(slots_per_worker=2)
    engine.advance(run.pk)
    return run


@pytest.fixture
def answering(program):
    return program("answer")


def claim(program, run, *workers: str, each: int = 1):
    return program.post(
        f"runs/{run.pk}/claims", {"workers": workers, "questions_per_worker": each}
    ).json()


def test_present_worker_gets_a_question_and_its_time_starts(answering, run):
    found = claim(answering, run, "w1")
    assert [(row["worker"], row["state"]) for row in found] == [("w1", "question")]
    (slip,) = found[0]["assignments"]
    fields = {"id", "worker", "skill", "question", "prompt", "kind", "choices", "due_at"}
    assert set(slip) == fields
    assert slip["due_at"] is not None
    shown = Assignment.objects.exclude(shown=None)
    assert [one.pk for one in shown] == [slip["id"]]
    assert run.candidates.get(worker__key="w1").seen is not None
    assert claim(answering, run, "w1") == found  # repeated until it is answered


def test_several_workers_come_at_once_each_with_so_many_questions(answering, run):
    found = claim(answering, run, "w1", "w2", "nobody", "w1", each=2)
    assert [(row["worker"], row["state"], len(row["assignments"])) for row in found] == [
        ("w1", "question", 2),
        ("w2", "question", 2),
        ("nobody", "unknown", 0),
    ]


def states(program, run, worker: str) -> str:
    (found,) = claim(program, run, worker)
    assert not found["assignments"] or found["state"] == "question"
    return found["state"]


def test_worker_without_a_question_is_told_why(answering):
    run = make_run()
    assert states(answering, run, "w1") == "wait"
    lifecycle.pause_run(run)
    assert states(answering, run, "w1") == "paused"
    lifecycle.resume_run(run)
    membership.withdraw_workers(run, ["w1"])
    assert states(answering, run, "w1") == "gone"
    lifecycle.stop_run(run)
    assert states(answering, run, "w2") == "over"


def test_draft_refuses_claims(answering):
    run = make_run(start=False)
    reply = answering.post(f"runs/{run.pk}/claims", {"workers": ["w1"]})
    assert reply.status_code == 409
    assert "has not begun" in reply.json()["error"]


# -- many answers


def send(program, *answers: tuple[int, str]):
    rows = [{"assignment": assignment, "response": said} for assignment, said in answers]
    return program.post("answers", {"answers": rows}).json()


def test_answers_of_a_batch_are_taken_or_refused_one_by_one(answering, run):
    one, two, three, late = open_of(run)[:4]
    send(answering, (one.pk, "yes"))
    Assignment.objects.filter(pk=late.pk).update(due=timezone.now() - timedelta(minutes=1))
    three.question.choices = ["yes", "no"]
    three.question.save()
    reply = send(
        answering,
        (two.pk, "no"),
        (one.pk, "yes"),
        (one.pk, "no"),
        (late.pk, "yes"),
        (10**9, "yes"),
        (three.pk, "maybe"),
        (three.pk, "YES"),
        (three.pk, "no"),
        (two.pk, "no"),
    )
    assert [row["status"] for row in reply["results"]] == [
        201, 200, 409, 409, 404, 422, 201, 409, 200,
    ]  # fmt: skip
    assert reply["new_answers"] == 2
    assert [row["assignment"] for row in reply["results"][:3]] == [two.pk, one.pk, one.pk]
    assert "among the choices" in reply["results"][5]["error"]
    stored = dict(Answer.objects.values_list("pk", "response"))
    assert stored == {one.pk: "yes", two.pk: "no", three.pk: "YES"}
    right = dict(Answer.objects.values_list("pk", "right"))
    assert right == {one.pk: True, two.pk: False, three.pk: True}


def test_a_batch_is_counted_like_answers_one_by_one(answering, run):
    out = open_of(run)
    send(answering, *((one.pk, "yes") for one in out))
    engine.advance(run.pk)
    assert run.candidates.filter(pulls__gt=0).count() == len({one.candidate_id for one in out})


def test_more_than_a_thousand_are_refused(answering):
    rows = [{"assignment": 1, "response": "yes"}] * 1001
    assert answering.post("answers", {"answers": rows}).status_code == 422


def test_ended_run_refuses_a_batch_answer_by_answer(answering, run):
    slip = open_of(run)[0]
    lifecycle.stop_run(run)
    assert [row["status"] for row in send(answering, (slip.pk, "yes"))["results"]] == [409]
    assert not Answer.objects.exists()

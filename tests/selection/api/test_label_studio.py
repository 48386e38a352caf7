"""Label Studio's webhook: annotations become answers, once each."""

import pytest
from django.test import Client

from selection import engine
from selection.answers import label_studio
from selection.models import Answer, ApiToken, RecordedAnswer
from selection.runs import lifecycle
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    made = make_run()
    engine.advance(made.pk)
    return made


@pytest.fixture
def studio():
    return Client(headers={"authorization": f"Bearer {ApiToken.issue('studio', scope='answer')}"})


def message(worker, question, said, action="ANNOTATION_CREATED", kind="choices", **changes):
    """Return a message with the fields that Label Studio sends."""
    value = {kind: [said] if kind in ("choices", "text") else said}
    annotation = {
        "id": 7,
        "completed_by": worker,
        "result": [{"from_name": "a", "to_name": "b", "type": kind, "value": value}],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-05-04T12:00:00Z",
        "lead_time": 4.2,
        "task": 3,
    } | changes
    return {
        "action": action,
        "annotation": annotation,
        "task": {"id": 3, "data": {"question": question, "text": "A bird?"}},
        "project": {"id": 1, "title": "Birds"},
    }


def send(studio, run, body, query=""):
    path = f"/api/runs/{run.pk}/label-studio{query}"
    return studio.post(path, body, content_type="application/json")


def state(studio, run, body, query=""):
    reply = send(studio, run, body, query)
    assert reply.status_code == 200, reply.content
    return reply.json()["state"]


def asked(run):
    slip = open_of(run)[0]
    return slip, slip.candidate.worker.key, slip.question.key


def test_an_annotation_answers_the_question_that_is_out(run, studio):
    slip, worker, question = asked(run)
    assert state(studio, run, message(worker, question, "yes")) == "answered"
    answer = Answer.objects.get()
    assert (answer.assignment_id, answer.response, answer.right) == (slip.pk, "yes", True)


def test_repeated_result_changes_nothing_and_a_different_one_conflicts(run, studio):
    _, worker, question = asked(run)
    state(studio, run, message(worker, question, "yes"))
    assert state(studio, run, message(worker, question, "yes")) == "again"
    updated = message(worker, question, "no", "ANNOTATION_UPDATED")
    refused = send(studio, run, updated)
    assert refused.status_code == 409
    assert "first answer counts" in refused.json()["error"]
    assert Answer.objects.get().response == "yes"


def test_result_to_an_unasked_question_waits_and_may_change_meanwhile(run, studio):
    dealt = {(one.candidate.worker.key, one.question.key) for one in open_of(run)}
    question = next(f"q{i}" for i in range(200) if ("w0", f"q{i}") not in dealt)
    assert state(studio, run, message("w0", question, "yes")) == "waiting"
    assert state(studio, run, message("w0", question, "yes")) == "again"
    assert send(studio, run, message("w0", question, "no")).status_code == 409
    updated = message("w0", question, "no", "ANNOTATION_UPDATED")
    assert state(studio, run, updated) == "changed"
    assert RecordedAnswer.objects.get().response == "no"
    run.refresh_from_db()
    assert run.has_recorded


def test_result_to_a_question_asked_at_this_moment_is_an_answer(run, studio, monkeypatch):
    """Check the race: a waiting answer to a question asked already would fail every further step.
    Check the race: a waiting answer to a question asked already would fail every further step."""
    slip, worker, question = asked(run)
    find, before = label_studio._open_assignment, iter([None])
    monkeypatch.setattr(label_studio, "_open_assignment", lambda *own: next(before, find(*own)))
    assert state(studio, run, message(worker, question, "yes")) == "answered"
    assert Answer.objects.get().assignment_id == slip.pk
    assert not RecordedAnswer.objects.exists()


@pytest.mark.parametrize(
    ("kind", "said", "stored"),
    [("text", "yes", "yes"), ("number", 7, "7"), ("rating", 4, "4"), ("choices", "no", "no")],
)
def test_result_kinds_are_read(run, studio, kind, said, stored):
    _, worker, question = asked(run)
    state(studio, run, message(worker, question, said, kind=kind))
    assert Answer.objects.get().response == stored


def test_several_choices_make_one_answer(run, studio):
    _, worker, question = asked(run)
    both = [{"type": "choices", "value": {"choices": ["a", "b"]}}]
    state(studio, run, message(worker, question, "", result=both))
    assert Answer.objects.get().response == "a | b"


def test_an_annotator_is_known_by_id_address_or_attribute(run, studio):
    for slip, by in zip(open_of(run)[:3], [17, {"id": 18, "email": "c@d.e"}, 19], strict=True):
        worker = slip.candidate.worker
        worker.attributes = {"label_studio": "c@d.e" if isinstance(by, dict) else str(by)}
        worker.save()
        answered = Answer.objects.count()
        assert state(studio, run, message(by, slip.question.key, "yes")) == "answered"
        assert Answer.objects.count() == answered + 1


def test_the_field_with_the_question_can_be_named(run, studio):
    _, worker, question = asked(run)
    body = message(worker, question, "yes")
    body["task"]["data"] = {"my id": question}
    assert send(studio, run, body).status_code == 422
    assert state(studio, run, body, "?field=my%20id") == "answered"


@pytest.mark.parametrize(
    "changes",
    [{"was_cancelled": True}, {"ground_truth": True}],
)
def test_message_without_an_answer_is_ignored(run, studio, changes):
    _, worker, question = asked(run)
    assert state(studio, run, message(worker, question, "yes", **changes)) == "ignored"
    assert state(studio, run, {"action": "PROJECT_UPDATED", "project": {}}) == "ignored"
    assert not Answer.objects.exists()


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (message("nobody", "q1", "yes"), "no worker"),
        (message("w1", "q999", "yes"), "no question"),
        (message(None, "q1", "yes"), "completed_by"),
        (message("w1", "q1", "yes", result=[]), "no choices"),
        (message("w1", "q1", "yes", result="x"), "no choices"),
        (message("w1", None, "yes"), "question"),
        ({"action": "ANNOTATION_CREATED"}, "annotation"),
    ],
)
def test_malformed_answer_is_refused_in_a_sentence(run, studio, body, word):
    refused = send(studio, run, body)
    assert refused.status_code == 422
    assert word in refused.json()["error"]


def test_unlisted_choice_is_refused_for_asked_and_waiting_questions(run, studio):
    run.question_set.questions.update(choices=["yes", "no"])
    _, worker, question = asked(run)
    dealt = {(one.candidate.worker.key, one.question.key) for one in open_of(run)}
    other = next(f"q{i}" for i in range(200) if (worker, f"q{i}") not in dealt)
    for key in (question, other):
        assert send(studio, run, message(worker, key, "maybe")).status_code == 422


def test_ended_run_takes_no_result(run, studio):
    _, worker, question = asked(run)
    lifecycle.stop_run(run)
    assert send(studio, run, message(worker, question, "yes")).status_code == 409

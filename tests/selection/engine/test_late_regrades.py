"""Answers that arrive while their question is corrected are graded by the new key."""

from datetime import timedelta

import pytest

from selection import db_clock, engine, tasks
from selection.answers import recording
from selection.engine import late_regrades
from selection.models import Answer, Event, Run
from selection.questions import corrections
from selection.questions.corrections import Gold
from selection.runs import consistency
from tests.worlds import crowd, make_questions, make_run, open_of, play

pytestmark = pytest.mark.django_db


def miskeyed() -> Run:
    """A running run with a wrongly keyed question out."""
    question_set = make_questions(200)
    run = make_run(question_set=question_set, epsilon=0.05)
    play(run, crowd(1, good=2), most=3)
    engine.advance(run.pk)
    question = open_of(run)[0].question
    question.accepted = ["no"]
    question.save()
    asked = Answer.objects.filter(assignment__question=question)
    asked.filter(expired=False).update(right=False)
    return run


def correct(question) -> None:
    right = Gold(question.prompt, ["yes"], question.choices, question.grading)
    corrections.correct_question(question, right, "ada", "the key was wrong")


def answered_meanwhile(run: Run, monkeypatch: pytest.MonkeyPatch) -> Answer:
    """One that was read under the old key, and stored when the key was corrected."""
    assignment, store = open_of(run)[0], recording.insert_answers

    def late(*arguments: object) -> int:
        monkeypatch.setattr(recording, "insert_answers", store)
        correct(assignment.question)
        return store(*arguments)

    monkeypatch.setattr(recording, "insert_answers", late)
    recording.record_answer(assignment.pk, "yes")
    return assignment.answer


def test_the_sweep_grades_an_answer_anew_that_came_in_while_its_key_was_corrected(monkeypatch):
    run = miskeyed()
    answer = answered_meanwhile(run, monkeypatch)
    assert not answer.right
    assert {fault.law for fault in consistency.find_faults(run)} >= {"grades"}
    assert late_regrades.sweep_late_regrades in tasks.PARTS
    late_regrades.sweep_late_regrades()
    answer.refresh_from_db()
    assert answer.right
    said = Event.objects.filter(run=run, kind="regrade").first()
    assert f"“{answer.assignment.question}” came in while it was corrected" in said.what


def test_regrade_is_repeated_after_a_faster_step(monkeypatch):
    run = miskeyed()
    answer = answered_meanwhile(run, monkeypatch)
    while answer.applied_in is None:
        assert engine.advance(run.pk)
        answer.refresh_from_db()
    late_regrades.sweep_late_regrades()
    run.refresh_from_db()
    assert consistency.find_faults(run) == []
    answer.refresh_from_db()
    assert answer.right


def test_correction_is_checked_again_after_its_commit(django_capture_on_commit_callbacks):
    run = miskeyed()
    assignment = open_of(run)[0]
    with django_capture_on_commit_callbacks() as afterwards:
        correct(assignment.question)
    recording.record_answer(assignment.pk, "yes")
    Answer.objects.filter(pk=assignment.pk).update(right=False)
    for look in afterwards:
        look()
    assert Answer.objects.get(pk=assignment.pk).right


def test_answers_counted_before_the_correction_stay_unchanged():
    """Code that grades otherwise today changes no answer counted before."""
    run = miskeyed()
    old = Answer.objects.filter(run=run).exclude(applied_in=None)[0]
    correct(open_of(run)[0].question)
    Answer.objects.filter(pk=old.pk).update(right=not old.right)
    late_regrades.sweep_late_regrades()
    assert Answer.objects.get(pk=old.pk).right != old.right


def test_the_sweep_looks_at_no_run_in_which_nothing_was_corrected_lately(
    monkeypatch, django_assert_max_num_queries
):
    answered_meanwhile(miskeyed(), monkeypatch)
    Event.objects.update(at=db_clock.database_now() - late_regrades.RECENT - timedelta(minutes=1))
    with django_assert_max_num_queries(2):  # the time, and which runs those are
        late_regrades.sweep_late_regrades()

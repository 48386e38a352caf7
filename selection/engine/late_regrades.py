"""Regrade answers that came in while their question was being corrected.

Recording an answer reads the key, grades by it and stores the answer without a lock, so that no
answer waits for another. An answer whose key is corrected in between is graded by the old key, and
the correction, which regrades stored answers, has not seen it. So the correction checks once more
after its commit, and the sweep does for the last answers that were on their way.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import Min, Q, QuerySet

from selection import db_clock, wakeups
from selection.history import events
from selection.models import Answer, Event, Question, Run

from .rejudge import rejudge

RECENT = timedelta(minutes=5)  # longer than any answer is on its way
CHUNK = 2000


def sweep_late_regrades() -> None:
    """Regrade late answers in all runs with a recent correction."""
    recent = Event.objects.filter(
        kind="regrade", at__gte=db_clock.database_now() - RECENT
    ).order_by()
    for run_id, step in recent.values_list("run").annotate(first=Min("step")):
        regrade_late_answers(run_id, step)


def regrade_late_answers(run_id: int, since: int) -> None:
    """Regrade answers not counted by step ``since`` that disagree with their question's key."""
    if misgraded_questions(run_id, since):  # hardly ever: so the run is not held to find out
        _regrade_in_run(run_id, since)


@transaction.atomic
def _regrade_in_run(run_id: int, since: int) -> None:
    run = Run.objects.locked(run_id)
    if run is None or not (questions := grade_answers(run, since)):
        return
    verdict = rejudge(run)
    names = ", ".join(questions)
    message = f"Answers to {names} came in while it was corrected: they are graded anew."
    events.write_event(run, "regrade", f"{message} {verdict}")
    wakeups.request_step(run.pk)


def misgraded_questions(run_id: int, since: int = 0) -> list[Question]:
    """Find the questions with an answer graded against their key, void ones excepted, by name."""
    graded = _list_given_answers(run_id, since).values_list(
        "assignment__question", "response", "right"
    )
    rows = list(graded.distinct())
    questions = Question.objects.in_bulk({pk for pk, _, _ in rows})
    wrong = {pk for pk, response, grade in rows if questions[pk].grade(response) != grade}
    return sorted((questions[pk] for pk in wrong), key=str)


def grade_answers(run: Run, since: int = 0) -> list[str]:
    """Grade these answers of a locked run anew; return the names of the questions."""
    questions = misgraded_questions(run.pk, since)
    for question in questions:
        rows = _list_given_answers(run.pk, since).filter(assignment__question=question)
        answers = list(rows.values_list("pk", "response", "right"))
        for grade in (True, False):
            wrong = [
                pk for pk, response, was in answers if question.grade(response) == grade != was
            ]
            for start in range(0, len(wrong), CHUNK):
                chunk = wrong[start : start + CHUNK]
                Answer.objects.filter(pk__in=chunk).update(right=grade)
    return [f"“{question}”" for question in questions]


def _list_given_answers(run_id: int, since: int) -> QuerySet[Answer]:
    later = Q(applied_in=None) | Q(applied_in__gt=since)
    answers = Answer.objects.filter(later, assignment__candidate__run=run_id)
    # Grades stay after their responses were deleted (selection.privacy).
    return answers.filter(expired=False, void=False).responded().order_by()

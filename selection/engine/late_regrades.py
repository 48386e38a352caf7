"""Answers that came in while their question was being corrected.

Who records an answer reads the key, grades by it and stores the answer, and locks nothing, so that
no answer waits for another. One whose key is corrected in between is graded by the old one, and the
correction, which grades what is stored, has not seen it. So whoever corrects looks once more when
that is committed, and the sweep does, for the last of those that were on their way.
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
    """Mend what came in late in all runs in which something was corrected lately."""
    lately = Event.objects.filter(
        kind="regrade", at__gte=db_clock.database_now() - RECENT
    ).order_by()
    for run_id, step in lately.values_list("run").annotate(first=Min("step")):
        regrade_late_answers(run_id, step)


def regrade_late_answers(run_id: int, since: int) -> None:
    """Grade anew what was not counted by this step and is not graded as its question says."""
    if misgraded_questions(run_id, since):  # hardly ever: so the run is not held to find out
        _regrade_in_run(run_id, since)


@transaction.atomic
def _regrade_in_run(run_id: int, since: int) -> None:
    run = Run.objects.locked(run_id)
    if run is None or not (named := grade_answers(run, since)):
        return
    verdict = rejudge(run)
    said = f"Answers to {', '.join(named)} came in while it was corrected: they are graded anew."
    events.write_event(run, "regrade", f"{said} {verdict}")
    wakeups.request_step(run.pk)


def misgraded_questions(run_id: int, since: int = 0) -> list[Question]:
    """Those of which an answer is not graded as they say, void ones aside, in order of name."""
    seen = _list_given_answers(run_id, since).values_list(
        "assignment__question", "response", "right"
    )
    rows = list(seen.distinct())
    known = Question.objects.in_bulk({pk for pk, _, _ in rows})
    wrong = {pk for pk, said, right in rows if known[pk].grade(said) != right}
    return sorted((known[pk] for pk in wrong), key=str)


def grade_answers(run: Run, since: int = 0) -> list[str]:
    """Grade these answers of a locked run as their questions say; the names of the questions."""
    found = misgraded_questions(run.pk, since)
    for question in found:
        rows = _list_given_answers(run.pk, since).filter(assignment__question=question)
        given = list(rows.values_list("pk", "response", "right"))
        for right in (True, False):
            wrong = [pk for pk, said, was in given if question.grade(said) == right != was]
            for start in range(0, len(wrong), CHUNK):
                chunk = wrong[start : start + CHUNK]
                Answer.objects.filter(pk__in=chunk).update(right=right)
    return [f"“{question}”" for question in found]


def _list_given_answers(run_id: int, since: int) -> QuerySet[Answer]:
    later = Q(applied_in=None) | Q(applied_in__gt=since)
    given = Answer.objects.filter(later, assignment__candidate__run=run_id)
    # Where responses were deleted in time (personal.retention) grades stay.
    return given.filter(expired=False, void=False).responded().order_by()

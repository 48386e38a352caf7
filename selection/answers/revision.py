"""Answers that are changed or refused elsewhere, before they are counted."""

from selection import db_clock, wakeups
from selection.grading.rules import is_match
from selection.models import Answer, Assignment, Run

from .lookup import read_slip
from .recording import refusal_of


def refuse_assignment(assignment_id: int) -> bool:
    """Close an open assignment that its worker refused; return False if it is closed or gone.

    It counts as not right, like one whose time was up: "right, in time" is what is estimated.
    """
    slip = read_slip(assignment_id)
    if slip is None or slip.status == Run.Status.ENDED:
        return False
    closing = Answer(
        assignment_id=assignment_id,
        run_id=slip.run_id,
        right=False,
        expired=True,
        at=db_clock.database_now(),
    )
    Answer.objects.bulk_create([closing], ignore_conflicts=True)
    wakeups.request_step(slip.run_id)
    return True


def revise_answer(assignment_id: int, response: str | None) -> bool:
    """Replace an answer that is not counted yet; return False if it is too late.

    After the time to answer nothing is replaced, also not a refusal.

    response  None for a refusal

    Call in a transaction. Raises Refused like ``record_answer``. The run is locked, because a step
    may be counting the answer.
    """
    run = Assignment.objects.filter(pk=assignment_id).values_list("candidate__run", flat=True)
    for run_id in run:
        Run.objects.locked(run_id)
    uncounted = Answer.objects.filter(pk=assignment_id, applied_in=None, void=False)
    slip = read_slip(assignment_id)
    if slip is None or slip.status == Run.Status.ENDED or not uncounted.exists():
        return False
    if slip.status == Run.Status.RUNNING and slip.due is not None and slip.due < slip.at:
        return False
    if response is None:
        uncounted.update(response="", right=False, expired=True)
        return True
    if (refusal := refusal_of(slip, response)) is not None:
        raise refusal
    grade = is_match(slip.accepted, response, slip.grading, slip.choices)
    uncounted.update(response=response, right=grade, expired=False)
    return True

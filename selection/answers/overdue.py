"""Overdue assignments: a shown question that is not answered in time counts as not right."""

from collections import Counter
from datetime import datetime

from selection import db_clock, wakeups
from selection.models import Answer, Assignment, Run

CHUNK = 2000  # rows of one statement


def expire_overdue(now: datetime | None = None) -> dict[int, int]:
    """Close every overdue assignment of a running run as expired. Return their number by run.

    Only shown assignments have a time to answer. One that became due after the last heartbeat of
    the web stays open: that time is given back (``answers.outages``).

    The estimate is of "right, in time". An answer that arrives in the same moment wins or loses as
    a whole: an assignment has one answer.
    """
    now = now or db_clock.database_now()
    overdue = list(
        Assignment.objects.overdue(now)
        .filter(candidate__run__status=Run.Status.RUNNING)
        .values_list("id", "candidate__run_id")
    )
    closings = [
        Answer(assignment_id=assignment, run_id=run, right=False, expired=True, at=now)
        for assignment, run in overdue
    ]
    Answer.objects.bulk_create(closings, CHUNK, ignore_conflicts=True)
    touched = Counter(run for _, run in overdue)
    for run in touched:
        wakeups.request_step(run)
    return dict(touched)

"""The switch of a run that asks through pages to *Only answers made elsewhere*."""

from django.db import transaction

from selection import wakeups
from selection.errors import Conflict
from selection.history import events
from selection.models import Run

from .roster import lock_active_run

SWITCHED = (
    "Only answers made elsewhere from now on: nobody is asked through pages. Questions that "
    "nobody has seen go back; a question that a worker was shown may still be answered in time."
)


def may_switch(run: Run) -> bool:
    """Return True if the run asks through pages now and could do without."""
    going_on = run.status in {Run.Status.RUNNING, Run.Status.PAUSED}
    return going_on and not run.recorded_only and not run.enrolling


@transaction.atomic
def use_recorded_only(run: Run, who: str = "", why: str = "") -> None:
    """Switch the run; no effect if it is switched already.

    Raises Conflict for a run that has ended or has an open roster.
    """
    locked = lock_active_run(run)
    if locked.recorded_only:
        return
    if locked.enrolling:
        raise Conflict(f"The roster of the run “{run}” is open: close it first.")
    locked.recorded_only = run.recorded_only = True
    locked.save(update_fields=["recorded_only"])
    events.write_event(locked, "recorded only", SWITCHED, who, why)
    wakeups.request_step(locked.pk)

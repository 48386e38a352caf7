"""End a run: its state, its ending and the message to webhooks."""

from selection import db_clock
from selection.history import notifications
from selection.models import Run


def end_run(run: Run, why: Run.Ending) -> None:
    """Mark a locked run as ended; the caller saves."""
    run.status, run.ending, run.ended = Run.Status.ENDED, why, db_clock.database_now()
    notifications.notify_ended(run)

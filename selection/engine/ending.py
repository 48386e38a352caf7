"""Ending of a run: its status, reason and webhook message."""

from selection import db_clock
from selection.history import notifications
from selection.models import Run

from .packed import forget_columns


def end_run(run: Run, reason: Run.Ending) -> None:
    """Mark a locked run as ended, and notify webhooks; the caller saves."""
    run.status, run.ending, run.ended = Run.Status.ENDED, reason, db_clock.database_now()
    notifications.notify_ended(run)
    forget_columns(run)

"""Ending of a run: its status, reason and webhook message."""

from django.db import transaction

from selection import audit, db_clock
from selection.history import notifications
from selection.models import Run


def end_run(run: Run, reason: Run.Ending) -> None:
    """Mark a locked run as ended, and notify webhooks; the caller saves."""
    run.status, run.ending, run.ended = Run.Status.ENDED, reason, db_clock.database_now()
    notifications.notify_ended(run)


@transaction.atomic
def end_for_money(run_id: int) -> bool:
    """End a running run whose money for calls is spent; return False if it does not run."""
    run = Run.objects.locked(run_id)
    if run is None or run.status != Run.Status.RUNNING:
        return False
    end_run(run, Run.Ending.BUDGET)
    run.save(update_fields=["status", "ending", "ended"])
    after = {"status": run.status, "ending": run.ending, "step": run.steps}
    audit.record_entry("ended", run, who="engine", before={"status": "running"}, after=after)
    return True

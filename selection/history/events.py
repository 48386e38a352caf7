"""Writing of a run's history: user, time, change and reason."""

from selection import db_clock
from selection.models import Event, Run


def write_event(run: Run, kind: str, what: str, who: str = "", why: str = "") -> Event:
    """Write an event, in the transaction that makes the change.

    who  a login name, "token NAME", or "" for the run itself
    """
    return Event.objects.create(
        run=run,
        at=db_clock.database_now(),
        who=who,
        kind=kind,
        what=what,
        why=why[:300],
        step=run.steps,
    )

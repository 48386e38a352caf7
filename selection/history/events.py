"""What was done to a run is written down with it: who, when, what, why."""

from django.utils import timezone

from selection.models import Event, Run


def write_event(run: Run, kind: str, what: str, who: str = "", why: str = "") -> Event:
    """Put down one thing, in the transaction that does it.

    who  a login name, "token NAME", or "" where the run did it by itself
    """
    return Event.objects.create(
        run=run, at=timezone.now(), who=who, kind=kind, what=what, why=why[:300], step=run.steps
    )

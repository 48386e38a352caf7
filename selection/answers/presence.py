"""Presence of workers, and display of their questions, which starts the time to answer."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db.models.functions import Now
from django.utils import timezone

from selection import wakeups
from selection.models import Assignment, Candidate, Run

# Often enough to detect presence; seldom enough that most page views cost no write.
PRESENCE_INTERVAL = timedelta(minutes=1)


def note_presence(run: Run, candidates: Sequence[int], last: datetime | None = None) -> None:
    """Record that the workers of these candidates are present; ``last`` is the previous time.

    The run is asked to advance for workers not known to be present: they may be needed.
    """
    if last is not None and abs(timezone.now() - last) < PRESENCE_INTERVAL:
        return
    absent = Candidate.objects.filter(pk__in=candidates).exclude(seen__gt=Now() - PRESENCE_INTERVAL)
    if absent.update(seen=Now()) and run.status == Run.Status.RUNNING:
        wakeups.request_step(run.pk)


def record_shown(run: Run, assignments: Sequence[int]) -> None:
    """Start the time to answer of these assignments, if it does not run yet.

    An earlier assignment is open with the same worker, and was to be seen as well. The time is that
    of the database, by which it ends: this host's clock may differ.
    """
    unseen = Assignment.objects.filter(pk__in=assignments, due=None, answer=None)
    unseen.update(shown=Now(), due=Now() + timedelta(minutes=run.minutes))


def record_handed(assignments: Iterable[int]) -> None:
    """Note that these assignments are where nobody sees whether they are shown; not of models."""
    rows = Assignment.objects.filter(pk__among=[*assignments], handed=None, due=None)
    rows.filter(candidate__worker__endpoint=None).update(handed=Now())

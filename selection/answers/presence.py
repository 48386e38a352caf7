"""That a worker is there, and what was shown to them: from then their time to answer runs."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models.functions import Now
from django.utils import timezone

from selection import wakeups
from selection.models import Assignment, Candidate, Run

# Often enough to tell who is there; seldom enough that a page costs no write each time.
NOTED_EVERY = timedelta(minutes=1)


def note_presence(run: Run, candidates: Sequence[int], last: datetime | None = None) -> None:
    """The workers of these candidates are there now; they were seen ``last`` at that time.

    The run is asked to advance for whoever was not known to be there: they may be needed.
    """
    if last is not None and abs(timezone.now() - last) < NOTED_EVERY:
        return
    known = Candidate.objects.filter(pk__in=candidates).exclude(seen__gt=Now() - NOTED_EVERY)
    if known.update(seen=Now()) and run.status == Run.Status.RUNNING:
        wakeups.request_step(run.pk)


def record_shown(run: Run, assignments: Sequence[int]) -> None:
    """Start the clock of these assignments, where it does not run yet.

    What comes before them is out with the same worker, and was to be seen as well. The time is the
    database's, by which it ends: this host's may be another.
    """
    unseen = Assignment.objects.filter(pk__in=assignments, due=None, answer=None)
    unseen.update(shown=Now(), due=Now() + timedelta(minutes=run.minutes))

"""Grace period: the time that a run waits for workers with shown, unanswered questions."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Max

from selection import db_clock
from selection.models import Answer, Assignment, Run

from .presence import PRESENCE_INTERVAL

LEAST_WAIT = timedelta(seconds=10)  # covers a slow page and a short distraction
SLOW_FACTOR = 5  # times the usual answer time of the crowd
RECENT_ANSWERS = 50  # answers for the usual answer time


@dataclass(frozen=True)
class GracePeriod:
    """The time waited so far for workers that hold questions, and the most that others wait."""

    lasted: timedelta
    most: timedelta

    @property
    def remaining(self) -> timedelta:
        return max(self.most - self.lasted, timedelta())


def seconds_left(run: Run) -> float:
    """Count the seconds left of the grace period for stalled workers; 0 once it is over.

    An algorithm may want answers of these workers only: without this, a worker who left without
    notice would block the run until the time to answer is over.
    """
    return current_wait(run, db_clock.database_now()).remaining.total_seconds()


def current_wait(run: Run, now: datetime) -> GracePeriod:
    most = _grace_period(run)
    since = _silent_since(run, now, most)
    # The absolute value: after a clock was set back, stored moments may lie ahead.
    return GracePeriod(timedelta() if since is None else abs(now - since), most)


def _silent_since(run: Run, now: datetime, most: timedelta) -> datetime | None:
    """Find the start of the wait for workers that hold questions; None if there is none.

    It is the latest over these workers of:

    - if they were shown a question that is open: that moment
    - without one, and never seen: the moment the run called its workers. So there is a single wait
      for all no-shows, however often the algorithm turns to them
    - without one, and seen within the last wait: the moment the question was handed out
    - seen before that only: the moment they were last seen
    """
    open_assignments = Assignment.objects.open().filter(candidate__run=run).order_by()
    columns = ("candidate", "candidate__seen")
    holders = list(
        open_assignments.values_list(*columns).annotate(shown=Max("shown"), step=Max("step"))
    )
    steps = run.history.filter(number__in={step for *_, step in holders})
    dealt = dict(steps.values_list("number", "at"))
    recent = now - most - PRESENCE_INTERVAL

    def since(seen: datetime | None, shown: datetime | None, step: int) -> datetime | None:
        if shown is not None:
            return shown
        if seen is None:
            return run.absence_since or run.started
        return dealt.get(step, seen) if seen > recent else seen

    moments = [since(seen, shown, step) for _, seen, shown, step in holders]
    return max(filter(None, moments), default=None)


def _grace_period(run: Run) -> timedelta:
    """Choose the length of the wait; the time to answer, while no answer times are known."""
    answers = Answer.objects.filter(run=run, expired=False, assignment__shown__isnull=False)
    latest = answers.order_by("-pk").values_list(F("at") - F("assignment__shown"), flat=True)
    spans = sorted(latest[:RECENT_ANSWERS])
    most = timedelta(minutes=run.minutes)
    return min(max(SLOW_FACTOR * spans[len(spans) // 2], LEAST_WAIT), most) if spans else most

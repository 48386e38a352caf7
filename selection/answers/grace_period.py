"""Workers who were shown questions and do not answer: how long the others wait for them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Max

from selection import db_clock
from selection.models import Answer, Assignment, Run

from .presence import NOTED_EVERY

LEAST = timedelta(seconds=10)  # a page that loads slowly, a look aside
SLOW = 5  # times as long as the crowd usually takes
RECENT = 50  # answers that tell what is usual


@dataclass(frozen=True)
class GracePeriod:
    """How long those who hold questions have been waited for, and are in all, as far as others can
    be asked."""

    lasted: timedelta
    most: timedelta

    @property
    def remaining(self) -> timedelta:
        return max(self.most - self.lasted, timedelta())


def seconds_left(run: Run) -> float:
    """For how many seconds those who hold questions are still waited for; 0: no longer, as far as
    others can be asked.

    An algorithm may want answers of nobody else: without this, one who has left without a word
    would hold all up until the time to answer is over.
    """
    return current_wait(run, db_clock.database_now()).remaining.total_seconds()


def current_wait(run: Run, now: datetime) -> GracePeriod:
    most = _grace_period(run)
    since = _silent_since(run, now, most)
    # The absolute value: after a clock was put back, what was stored before lies ahead.
    return GracePeriod(timedelta() if since is None else abs(now - since), most)


def _silent_since(run: Run, now: datetime, most: timedelta) -> datetime | None:
    """Return the start of the wait for those who hold questions; None if nobody does.

    It is the latest over these workers of:

    - when they were shown a question that is out;
    - without one, and never seen: when the run called its workers. So the wait for all who never
      came is a single one, however often the algorithm turns to them;
    - without one, and seen within the last wait: when the question was handed out;
    - seen before that only: when they were last seen.
    """
    held = Assignment.objects.open().filter(candidate__run=run).order_by()
    columns = ("candidate", "candidate__seen")
    holders = list(held.values_list(*columns).annotate(shown=Max("shown"), step=Max("step")))
    steps = run.history.filter(number__in={step for *_, step in holders})
    dealt = dict(steps.values_list("number", "at"))
    recent = now - most - NOTED_EVERY

    def since(seen: datetime | None, shown: datetime | None, step: int) -> datetime | None:
        if shown is not None:
            return shown
        if seen is None:
            return run.called or run.started
        return dealt.get(step, seen) if seen > recent else seen

    moments = [since(seen, shown, step) for _, seen, shown, step in holders]
    return max(filter(None, moments), default=None)


def _grace_period(run: Run) -> timedelta:
    """How long from then; the time to answer, while nothing is known of the crowd."""
    given = Answer.objects.filter(run=run, expired=False, assignment__shown__isnull=False)
    latest = given.order_by("-pk").values_list(F("at") - F("assignment__shown"), flat=True)
    spans = sorted(latest[:RECENT])
    most = timedelta(minutes=run.minutes)
    return min(max(SLOW * spans[len(spans) // 2], LEAST), most) if spans else most

"""Workers who were shown questions and do not answer: how long the others wait for them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Max

from selection import clock
from selection.models import Answer, Assignment, Run

LEAST = timedelta(seconds=10)  # a page that loads slowly, a look aside
SLOW = 5  # times as long as the crowd usually takes
RECENT = 50  # answers that tell what is usual


@dataclass(frozen=True)
class Wait:
    """How long those who hold questions have been waited for, and are in all, as far as others can
    be asked."""

    lasted: timedelta
    most: timedelta

    @property
    def left(self) -> timedelta:
        return max(self.most - self.lasted, timedelta())


def left(run: Run) -> float:
    """For how many seconds those who hold questions are still waited for; 0: no longer, as far as
    others can be asked.

    An algorithm may want answers of nobody else: without this, one who has left without a word
    would hold all up until the time to answer is over.
    """
    return wait(run, clock.now()).left.total_seconds()


def wait(run: Run, now: datetime) -> Wait:
    since, most = _since(run), _patience(run)
    # What lies ahead was before a clock was put back.
    return Wait(timedelta() if since is None else abs(now - since), most)


def _since(run: Run) -> datetime | None:
    """When the last of those who hold questions was shown one, or the last step, while there is
    somebody who has seen none: whoever was passed over holds nobody up a second time."""
    last = run.history.order_by("-number").values_list("at", flat=True).first()
    held = Assignment.objects.open().filter(candidate__run=run).order_by().values("candidate")
    shown = list(held.annotate(latest=Max("shown")).values_list("latest", flat=True))
    return max(shown, default=last) if all(shown) else last


def _patience(run: Run) -> timedelta:
    """How long from then; the time to answer, while nothing is known of the crowd."""
    given = Answer.objects.filter(run=run, expired=False, assignment__shown__isnull=False)
    latest = given.order_by("-pk").values_list(F("at") - F("assignment__shown"), flat=True)
    spans = sorted(latest[:RECENT])
    most = timedelta(minutes=run.minutes)
    return min(max(SLOW * spans[len(spans) // 2], LEAST), most) if spans else most

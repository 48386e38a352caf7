"""Workers who were shown questions and do not answer: how long the others wait for them."""

from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from selection.models import Answer, Run

LEAST = timedelta(minutes=1)
SLOW = 5  # times as long as the crowd usually takes
RECENT = 50  # answers that tell what is usual


def worn(run: Run) -> bool:
    """Whether those who hold questions are waited for no longer, as far as others can be asked.

    An algorithm may want answers of nobody else: without this, one who has left without a word
    would hold all up until the time to answer is over.
    """
    last = run.history.order_by("-number").values_list("at", flat=True).first()
    return last is not None and timezone.now() - last > _patience(run)


def _patience(run: Run) -> timedelta:
    """How long after the last step; the time to answer, while nothing is known of the crowd."""
    given = Answer.objects.filter(run=run, expired=False, assignment__shown__isnull=False)
    latest = given.order_by("-pk").values_list(F("at") - F("assignment__shown"), flat=True)
    spans = sorted(latest[:RECENT])
    most = timedelta(minutes=run.minutes)
    return min(max(SLOW * spans[len(spans) // 2], LEAST), most) if spans else most

"""Answers per hour of a pool's workers in earlier runs, to estimate the duration of the next."""

from django.db.models import Count, Max, Min

from selection.facts import Facts
from selection.models import SAMPLE_RUN, Pool

ENOUGH = 20  # answers that a pace rests on at least
RECENT = 5  # runs that are considered
FASTEST = 1800  # answers an hour of one worker: more come from a simulated crowd or a file


def pool_throughput(pool: Pool) -> Facts | None:
    """Return that of the pool's latest run with enough answers; None if there is none.

    The sample run, and answers that came faster than people can give them, are ignored.
    """
    real = pool.runs.filter(recorded_only=False).exclude(name=SAMPLE_RUN)
    begun = real.exclude(started=None).order_by("-pk")
    for run in begun[:RECENT]:
        answers = run.answers.filter(expired=False)
        totals = answers.aggregate(
            first=Min("at"),
            last=Max("at"),
            count=Count("pk"),
            workers=Count("assignment__candidate__worker", distinct=True),
        )
        if totals["count"] < ENOUGH or totals["last"] == totals["first"]:
            continue
        hours = (totals["last"] - totals["first"]).total_seconds() / 3600
        an_hour = (totals["count"] - 1) / hours
        if an_hour <= FASTEST * totals["workers"]:
            return Facts(run=run, an_hour=an_hour)
    return None

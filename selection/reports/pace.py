"""How fast a pool's crowd answered before, to say how long a run will take."""

from dataclasses import dataclass

from django.db.models import Count, Max, Min

from selection.models import Pool, Run

ENOUGH = 20  # answers, to speak of a pace
RECENT = 5  # runs that are looked at


@dataclass(frozen=True)
class Pace:
    """Answers an hour, from the first answer of this run to the last."""

    run: Run
    an_hour: float


def pace(pool: Pool) -> Pace | None:
    """That of the latest run of this pool in which enough was answered; None if there is none."""
    begun = pool.runs.exclude(started=None).filter(recorded_only=False).order_by("-pk")
    for run in begun[:RECENT]:
        given = run.answers.filter(expired=False)
        seen = given.aggregate(first=Min("at"), last=Max("at"), count=Count("pk"))
        if seen["count"] < ENOUGH or seen["last"] == seen["first"]:
            continue
        hours = (seen["last"] - seen["first"]).total_seconds() / 3600
        return Pace(run, (seen["count"] - 1) / hours)
    return None

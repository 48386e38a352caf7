"""How fast a pool's own workers answered before, to say how long a run will take."""

from dataclasses import dataclass

from django.db.models import Count, Max, Min

from selection.models import SAMPLE_RUN, Pool, Run

ENOUGH = 20  # answers, to speak of a pace
RECENT = 5  # runs that are looked at
FASTEST = 1800  # answers an hour of one worker: more come from a simulated crowd or a file


@dataclass(frozen=True)
class Throughput:
    """Answers an hour, from the first answer of this run to the last."""

    run: Run
    an_hour: float


def pool_throughput(pool: Pool) -> Throughput | None:
    """That of the latest run of this pool in which enough was answered; None if there is none.

    The sample run, and answers that came faster than people give them, say nothing of people.
    """
    real = pool.runs.filter(recorded_only=False).exclude(name=SAMPLE_RUN)
    begun = real.exclude(started=None).order_by("-pk")
    for run in begun[:RECENT]:
        given = run.answers.filter(expired=False)
        seen = given.aggregate(
            first=Min("at"),
            last=Max("at"),
            count=Count("pk"),
            workers=Count("assignment__candidate__worker", distinct=True),
        )
        if seen["count"] < ENOUGH or seen["last"] == seen["first"]:
            continue
        hours = (seen["last"] - seen["first"]).total_seconds() / 3600
        an_hour = (seen["count"] - 1) / hours
        if an_hour <= FASTEST * seen["workers"]:
            return Throughput(run, an_hour)
    return None

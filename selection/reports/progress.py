"""Progress of runs: counts, history, and annotations for a list of runs."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from django.db.models import Count, F, Max, Min, QuerySet, Sum
from django.db.models.functions import Now

from selection.facts import Facts
from selection.models import SAMPLE_RUN, Assignment, Pool, Run, Step, status_counts
from selection.models.answers import is_given

MINUTES = 2  # of the rate


@dataclass(frozen=True)
class Progress:
    """Progress of a run. It stops when gap falls to wanted; both are differences of accuracy."""

    accepted: int
    rejected: int
    undecided: Annotated[int, "Tested, and neither accepted nor rejected yet."]
    not_tested: Annotated[
        int,
        "Without a counted answer, or gone before a verdict. The four counts add up to all "
        "workers, in each skill.",
    ]
    gap: float
    wanted: float
    closed: Annotated[float, "Progress towards the stop, 0 to 1."]
    spent: Annotated[
        int, "Assignments handed out, those of questions that were retired since included."
    ]
    remaining_budget: Annotated[int | None, "Remaining budget; null: no limit."]
    counted: Annotated[int, "Answers that count in the statistics."]
    outstanding: Annotated[int, "Open assignments."]
    rate: Annotated[float, "Answers counted per minute over the last minutes."]


def read_progress(run: Run) -> Progress:
    last = run.history.order_by("-number").first()
    tally = run.tally()
    spent = tally["spent"]
    decided = {name: tally[name] for name in ("accepted", "rejected", "not_tested")}
    wanted = run.epsilon if "epsilon" in run.selector_class.needs else 0.0
    gap, target = (last.gap, last.wanted) if last else (1.0, wanted)
    unanswered = Assignment.objects.filter(candidate__run=run).open().count()
    return Progress(
        **decided,
        undecided=tally["arms"] - sum(decided.values()),
        gap=gap,
        wanted=target,
        closed=_share_closed(run, last),
        spent=spent,
        remaining_budget=None if run.budget is None else max(0, run.budget - spent),
        counted=tally["counted"],
        outstanding=0 if run.status == Run.Status.ENDED else unanswered,
        rate=_answers_per_minute(run),
    )


def count_given(run: Run) -> int:
    """Count the answers to pay, including wrong ones and those of retired questions."""
    return run.answers.filter(is_given()).count()


def _share_closed(run: Run, last: Step | None) -> float:
    """Measure the way to the stop. With a fixed budget the gap is the unspent share."""
    if run.finished:
        return 1.0
    if last is None:
        return 0.0
    return 1 - last.gap if run.fixed_budget else last.closed


def _answers_per_minute(run: Run) -> float:
    steps = run.history.filter(at__gte=Now() - timedelta(minutes=MINUTES)).order_by("number")
    answers: int = steps.aggregate(total=Sum("applied", default=0))["total"]
    return answers / MINUTES


def read_history(run: Run, most: int = 200) -> list[Step]:
    stride = max(1, -(-run.steps // most))
    thinned = run.history.alias(phase=(F("number") - run.steps) % stride).filter(phase=0)
    return list(thinned.order_by("number"))


def annotate_counts(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Annotate runs with numbers of workers and answers.

    They are the ``accepted``, ``rejected`` and ``not_tested`` of all ``workers``, and ``counted``
    answers.
    """
    return runs.annotate(
        **status_counts("candidates__"),
        workers=Count("candidates"),
        counted=Sum("candidates__pulls", default=0),
    )


# -- throughput


ENOUGH = 20  # answers that a pace rests on at least
RECENT = 5  # runs that are considered
FASTEST = 1800  # answers an hour of one worker: more come from a simulated crowd or a file


def pool_throughput(pool: Pool) -> Facts | None:
    """Measure speed in the pool's latest run with enough answers; None if there is none.

    The sample run, and answers that came faster than people can give them, are ignored.
    """
    real = pool.runs.filter(recorded_only=False).exclude(name=SAMPLE_RUN)
    starts = real.exclude(started=None).order_by("-pk")
    for run in starts[:RECENT]:
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

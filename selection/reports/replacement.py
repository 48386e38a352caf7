"""A replacement described before it is made: who is next, and what is guaranteed then."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from django.db import transaction

from selection.errors import Refused
from selection.models import Run, plain_key
from selection.runs import lifecycle, replacement
from selection.texts import count_noun
from selection.viewer_locale import format_figure

from .guarantee import KEPT, WEAKENED, guarantee_of_run
from .standings import worker_standings
from .worker_columns import WorkerStanding

SECONDS = 1.0  # of simulation
BY_HAND = "No guarantee covers a worker that takes a place by hand."

# Simulates a run that goes on, for so many seconds: a RunForecast.
Forecaster = Callable[[Run, float], Any]


@dataclass(frozen=True)
class Replacement:
    """The effect of replacing selected workers."""

    leaving: Annotated[list[str], "The workers that are replaced."]
    next_best: Annotated[list[str], "The workers in their places, best first."]
    others: Annotated[list[str], "Workers that took part and are not selected."]
    by_hand: Annotated[bool, "True: the algorithm cannot judge the others, so verdicts are yours."]
    keeps_guarantee: Annotated[bool, "True: the run's guarantee holds of the new selection."]
    guarantee: Annotated[str, "The guarantee of the new selection."]
    claim: Annotated[str, "The error probability of that statement."]
    goes_on: Annotated[bool, "True: the run can go on until its guarantee holds."]
    answers: Annotated[
        tuple[int, int] | None,
        "Answers until the guarantee holds, in four simulated runs of five. null: they are not "
        "needed, or no forecast is possible.",
    ]


def preview_replacement(
    run: Run, workers: Sequence[str], forecast: Forecaster | None = None
) -> Replacement:
    """Return the effect of replacing these workers, without replacing them.

    forecast  of the answers until the guarantee holds; None: no forecast

    Raises as ``replacement.replace_workers`` does.
    """
    before = [line for line in worker_standings(run) if line.selected]
    by_key = {line.worker: line for line in before}
    if unselected := [key for key in workers if plain_key(key) not in by_key]:
        raise Refused(f"“{unselected[0]}” is not among the selected workers.")
    successors = [] if replacement.judges_others(run) else _next_in_line(run, len(workers))
    with transaction.atomic():
        replacement.replace_workers(run, workers, successors, why="preview")
        changed = Run.objects.get(pk=run.pk)
        effect = _describe(changed, workers, before, forecast)
        transaction.set_rollback(True)
    return effect


def _next_in_line(run: Run, places: int) -> list[str]:
    gone = set(run.candidates.exclude(gone="").values_list("pk", flat=True))
    rows = [line for line in worker_standings(run) if not line.selected and line.answers]
    return [line.worker for line in rows if line.candidate not in gone][:places]


def _describe(
    run: Run,
    workers: Sequence[str],
    before: Sequence[WorkerStanding],
    forecast: Forecaster | None,
) -> Replacement:
    lines, status = worker_standings(run), guarantee_of_run(run)
    known = {line.worker for line in before}
    gone = set(run.candidates.exclude(gone="").values_list("worker__key", flat=True))
    out = gone | set(workers)
    judges = replacement.judges_others(run)
    holds = judges and status.verdict in (KEPT, WEAKENED) and run.certified
    goes_on = judges and not holds and (run.reopens or run.may_be_raised)
    return Replacement(
        leaving=list(workers),
        next_best=[line.worker for line in lines if line.selected and line.worker not in known],
        others=[line.worker for line in lines if line.worker not in known | out],
        by_hand=not judges,
        keeps_guarantee=holds,
        guarantee=status.text if judges else BY_HAND,
        claim=(
            f"This is a claim of its own, beside that at the end of the run: each is wrong with a "
            f"probability of at most {format_figure(run.delta)}."
            if judges and status.epsilon is not None
            else "No error probability is stated."
        ),
        goes_on=goes_on,
        answers=_forecast_answers(run, forecast) if goes_on and run.reopens and forecast else None,
    )


def _forecast_answers(run: Run, forecast: Forecaster) -> tuple[int, int] | None:
    """Return the answers until the guarantee holds, in a run that goes on for the forecast only."""
    lifecycle.reopen_run(run)
    ahead = forecast(Run.objects.get(pk=run.pk), SECONDS)
    if ahead.why:
        return None
    return max(0, ahead.low - ahead.counted), max(0, ahead.high - ahead.counted)


def describe_answers(offer: Replacement) -> str:
    """Return how many answers restore the guarantee, in one sentence; empty if none are needed."""
    if offer.keeps_guarantee or not offer.goes_on:
        return ""
    if offer.answers is None:
        return "The run can go on until its guarantee holds; it is too early to say how long."
    low, high = offer.answers
    return f"The run can go on until its guarantee holds: {low} to {count_noun(high, 'answer')}."

"""Remaining answers, money and time of a running run."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from django.db.models import Sum

from selection import db_clock
from selection.facts import Facts
from selection.model_workers import spending
from selection.models import Run, RunForecast
from selection.runs import money
from selection.texts import count_noun
from selection.viewer_locale import format_count

from .progress import Progress, count_given, read_progress

ENOUGH = 20  # answers that a speed rests on at least
SHORTLY, LATELY = timedelta(hours=1), timedelta(days=1)  # windows of the speed
UNSEEN = "Too early to say: a running Celery worker simulates the run within two minutes."
SPANS = [
    (timedelta(minutes=10), "ten minutes"),
    (timedelta(hours=1), "an hour"),
    (timedelta(hours=3), "three hours"),
    (timedelta(hours=12), "half a day"),
    (timedelta(days=1), "a day"),
    (timedelta(days=2), "two days"),
    (timedelta(days=4), "four days"),
    (timedelta(weeks=1), "a week"),
    (timedelta(weeks=2), "two weeks"),
    (timedelta(weeks=5), "five weeks"),
]


@dataclass(frozen=True)
class FullTestForecast:
    """Cost of testing all workers alike, with the number of questions of the busiest worker."""

    questions: Annotated[int, "Questions of each worker: as many as for the busiest worker."]
    answers: int
    cost: float | None
    epsilon: Annotated[
        float,
        "Largest error of the best K by share of right answers, with probability 1 − δ, by "
        "simulation. This ε is an estimate, not a guarantee.",
    ]


@dataclass(frozen=True)
class RunningForecast:
    """Forecast of a running run, simulated from its current state."""

    why: Annotated[str, "Reason if there is no forecast yet; empty with a forecast."]
    paid: Annotated[int, "Number of answers until now."]
    committed: Annotated[int, "Open assignments."]
    paid_cost: float | None
    committed_cost: float | None
    answers: Annotated[
        tuple[int, int, int] | None,
        "Answers still to come, with open assignments: low, median, high. Four simulated runs of "
        "five are between low and high. null: fewer than 20 runs were simulated.",
    ] = None
    median: Annotated[int | None, "Median of `answers`, also of fewer than 20 runs."] = None
    cost: Annotated[tuple[float, float, float] | None, "Cost of `answers`."] = None
    total: Annotated[tuple[int, int, int] | None, "Answers in all at the end."] = None
    kept: Annotated[float | None, "Share of simulated runs that finish."] = None
    finished: Annotated[int, "Number of simulated runs that finish, of `runs`."] = 0
    runs: Annotated[int, "Number of simulated runs."] = 0
    epsilon: Annotated[
        float | None, "Median ε achieved by the runs that end early; null: no run ends early."
    ] = None
    time: Annotated[str, "Duration at the present speed, in words."] = ""
    hours: Annotated[float | None, "Upper bound in hours; null if it is too early to say."] = None
    everybody: FullTestForecast | None = None
    accuracy: Annotated[
        float | None,
        "Mean accuracy that the selected would have, median of the simulations; null if the end "
        "is not simulated or nobody is selected.",
    ] = None
    mean_at_least: Annotated[
        float | None, "Mean accuracy that the run would state at its end, median."
    ] = None
    passing: Annotated[
        int | None,
        "Number of workers that the run would select at its pass mark, median; null without a "
        "mark.",
    ] = None
    at: Annotated[datetime | None, "Time of the simulation."] = None


def forecast_remaining(
    run: Run, progress: Progress | None = None, at: datetime | None = None
) -> RunningForecast | None:
    """Forecast the rest; None for a run that has not begun, or has ended."""
    if run.status not in (Run.Status.RUNNING, Run.Status.PAUSED):
        return None
    progress = progress or read_progress(run)
    paid = count_given(run)
    spent = {
        "paid": paid,
        "committed": progress.outstanding,
        "paid_cost": _cost_of(run, paid),
        "committed_cost": _cost_of(run, progress.outstanding),
    }
    forecast = RunForecast.objects.filter(run=run).first()
    closed = progress.spent - progress.outstanding
    if forecast is None or forecast.why or forecast.is_outlived(closed):
        current = forecast is not None and forecast.step == run.steps
        why = forecast.why if forecast and current else ""
        return RunningForecast(why=why or UNSEEN, **spent)  # type: ignore[arg-type]
    band = remaining_band(forecast, closed)
    low, median, high = band
    banded = forecast.has_band
    hours, time = _remaining_time(run, high if banded else None, at or db_clock.database_now())
    return RunningForecast(
        why="",
        **spent,  # type: ignore[arg-type]
        answers=band if banded else None,
        median=median,
        cost=tuple(_cost_of(run, answers) for answers in band)
        if banded and run.price is not None
        else None,  # type: ignore[arg-type]
        total=(low + paid, median + paid, high + paid) if banded else None,
        kept=forecast.kept,
        finished=round(forecast.kept * forecast.runs),
        runs=forecast.runs,
        epsilon=forecast.epsilon,
        time=time,
        hours=hours,
        everybody=_full_test_forecast(run, forecast),
        accuracy=forecast.accuracy,
        mean_at_least=forecast.mean_at_least,
        passing=forecast.passing,
        at=forecast.at,
    )


def forecast_spending(run: Run) -> Facts:
    ahead = forecast_remaining(run)
    needed = None if ahead is None else ahead.median
    return spending.describe_spending(run, run.tally()["counted"], needed)


def remaining_band(forecast: RunForecast, closed: int) -> tuple[int, int, int]:
    """Subtract from the forecast the ``closed`` assignments: the answers still to come."""
    low, median, high = (
        max(0, total - closed) for total in (forecast.low, forecast.median, forecast.high)
    )
    return low, median, high


def _cost_of(run: Run, answers: int) -> float | None:
    return (
        None if run.price is None else float(money.compute_cost(answers, run.price, run.currency))
    )


def _full_test_forecast(run: Run, forecast: RunForecast) -> FullTestForecast | None:
    if forecast.uniform is None:
        return None
    answers = forecast.most * run.candidates.filter(gone="").count()
    return FullTestForecast(
        forecast.most, answers, _cost_of(run, answers), round(forecast.uniform, 4)
    )


# -- time


def _remaining_time(run: Run, answers: int | None, now: datetime) -> tuple[float | None, str]:
    """Bound the hours for so many answers, None if unknown, and say so in a sentence."""
    if run.status == Run.Status.PAUSED:
        return None, "The run is paused: no question is assigned until you resume the run."
    if run.recorded_only:
        return None, ""
    speed = _answers_per_hour(run, now)
    if speed is None or answers is None:
        return None, "The duration is too early to say."
    hours = answers / speed
    return round(hours, 2), describe_bound(timedelta(hours=min(hours, 10_000)))


def describe_bound(span: timedelta) -> str:
    """Word an upper bound: enough if the crowd keeps its speed."""
    for most, unit in SPANS:
        if span <= most:
            return f"Less than {unit} left at the present speed."
    return "More than five weeks left at the present speed."


def _answers_per_hour(run: Run, now: datetime) -> float | None:
    began = max(filter(None, (run.started, run.absence_since)))
    for window in (SHORTLY, LATELY):
        since = max(began, now - window)
        steps = run.history.filter(at__gte=since)
        answers: int = steps.aggregate(total=Sum("applied", default=0))["total"]
        seconds = (now - since).total_seconds()
        if answers >= ENOUGH and seconds > 0:
            return 3600 * answers / seconds
    return None


# -- in words


def summarise_forecast(run: Run, forecast: RunForecast | None, closed: int) -> str:
    """Summarise for a list: "80 – 190 answers, 4.00 – 9.50 € (40 simulations)"."""
    over = run.status == Run.Status.ENDED
    if forecast is None or forecast.why or (forecast.is_outlived(closed) and not over):
        return "too early to say"
    low, _, high = remaining_band(forecast, closed)
    answers = format_answers(low, high)
    cost = "" if run.price is None else f", {money.format_cost_range(run, low, high)}"
    about = "" if forecast.has_band else "about "
    basis = f" ({count_noun(forecast.runs, 'simulation')})" if forecast.runs else ""
    return f"{about}{answers}{cost}{basis}"


def format_answers(low: int, high: int) -> str:
    """Write a number of answers, or a range of it: 80 – 190 answers."""
    answers = count_noun(high, "answer")
    return answers if low == high else f"{format_count(low)} – {answers}"

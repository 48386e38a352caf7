"""Remaining answers, money and time of a running run."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from django.db.models import Sum

from selection import db_clock
from selection.facts import Facts
from selection.model_workers import spending
from selection.models import ForecastFigures, Run, RunForecast
from selection.runs import money
from selection.texts import count_noun
from selection.viewer_locale import format_count

from .progress import Progress, count_given, read_progress

ENOUGH = 20  # answers that a speed rests on at least
SHORTLY, LATELY = timedelta(hours=1), timedelta(days=1)  # windows of the speed
STORED = (*("finished", "runs", "at"), *("epsilon_at_end", "accuracy", "mean_at_least", "passing"))
UNSEEN = "Estimating: this takes about a minute."


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


@dataclass(frozen=True, kw_only=True)
class RunningForecast(ForecastFigures):
    """Forecast of a running run, simulated from its current state."""

    why: Annotated[str, "Reason if there is no forecast yet; empty with a forecast."]
    paid: Annotated[int, "Number of answers until now."]
    committed: Annotated[int, "Open assignments, which are among the answers to come."]
    paid_cost: float | None
    committed_cost: float | None
    hours: Annotated[
        float | None, "Upper bound at the present speed; null if it is too early to say."
    ] = None
    everybody: FullTestForecast | None = None
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
    _, median, high = band = remaining_band(forecast, closed)
    costs = tuple(_cost_of(run, answers) for answers in band)
    ranges = {
        "answers": band,
        "cost": costs if run.price is not None else None,
        "hours": _remaining_hours(run, high, at or db_clock.database_now()),
    }
    return RunningForecast(
        why="",
        **spent,  # type: ignore[arg-type]
        **(ranges if forecast.has_band else {}),  # type: ignore[arg-type]
        **{name: getattr(forecast, name) for name in STORED},
        median=median,
        everybody=_full_test_forecast(run, forecast),
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


def _remaining_hours(run: Run, answers: int, now: datetime) -> float | None:
    """Bound the hours for so many answers; None if unknown."""
    if run.status == Run.Status.PAUSED or run.recorded_only:
        return None
    speed = _answers_per_hour(run, now)
    return None if speed is None else round(answers / speed, 2)


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

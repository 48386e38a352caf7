"""The forecast of a run under way, as sentences for its page."""

from dataclasses import dataclass

from selection import reports
from selection.models import Run
from selection.reports import Progress
from selection.reports.durations import count_noun
from selection.runs import money


@dataclass(frozen=True)
class RunningForecast:
    """Sentences and parts of sentences; all may be empty."""

    why: str
    spent: str
    to_come: str = ""
    likely: str = ""
    certain: bool = False
    few: bool = False
    time: str = ""
    cut: str = ""
    everybody: str = ""
    basis: str = ""


def running_forecast(run: Run, progress: Progress) -> RunningForecast | None:
    """Return the sentences, or None if the run is not under way."""
    forecast = reports.forecast_remaining(run, progress)
    if forecast is None:
        return None
    paid, committed = _format_cost(run, forecast.paid), _format_cost(run, forecast.committed)
    spent = f"{paid} given so far, and {committed} out now."
    if forecast.median is None:
        return RunningForecast(forecast.why, spent)
    low, median, high = forecast.answers or [forecast.median] * 3
    return RunningForecast(
        why="",
        spent=spent,
        to_come=_format_range(run, low, high),
        likely=_format_cost(run, median),
        certain=low == high and forecast.answers is not None,
        few=forecast.answers is None,
        time=forecast.time,
        cut=_describe_early_end(run, forecast),
        everybody=_describe_full_test(run, forecast.everybody),
        basis=_basis(forecast),
    )


def _basis(forecast: reports.RunningForecast) -> str:
    """Return the number of simulations and of those that finish; empty if none were needed."""
    if not forecast.runs:
        return ""
    few = "" if forecast.answers else f" Too few simulations yet for a range ({forecast.runs})."
    simulations = count_noun(forecast.runs, "simulation")
    return f"Finished in {forecast.finished} of {simulations}, played on from where it stood.{few}"


def _format_range(run: Run, low: int, high: int) -> str:
    if low == high:
        return f"{_format_cost(run, high)} to come"
    cost = f" ({money.format_cost_range(run, low, high)})" if run.price else ""
    return f"{low:,} – {high:,} answers to come{cost}"


def _format_cost(run: Run, answers: int) -> str:
    cost = money.format_cost(run, answers)
    return f"{answers:,} answer{'' if answers == 1 else 's'}{f' ({cost})' if cost else ''}"


def _describe_early_end(run: Run, forecast: reports.RunningForecast) -> str:
    """Return a warning if the run may end before its guarantee holds."""
    if forecast.kept is None or forecast.kept >= 0.95 or run.fixed_budget:
        return ""
    unfinished = forecast.runs - forecast.finished
    chance = (
        f"In {unfinished} of {count_noun(forecast.runs, 'simulation')} questions or money end first"
    )
    if forecast.epsilon is None or forecast.epsilon >= 1:
        return f"{chance}, and nothing is guaranteed by then."
    return f"{chance}, mostly with ε = {reports.rounded_up(forecast.epsilon):g} guaranteed by then."


def _describe_full_test(run: Run, full_test: reports.FullTestForecast | None) -> str:
    if full_test is None:
        return ""
    return (
        f"Asking everybody {full_test.questions:,} questions, as many as the worker asked most "
        f"will have, takes {_format_cost(run, full_test.answers)} in all, promises nothing, and "
        f"may be {reports.rounded_up(full_test.epsilon):g} short."
    )

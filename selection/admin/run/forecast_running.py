"""What a run will still take, as its page says it."""

from dataclasses import dataclass

from selection import reports
from selection.models import Run
from selection.reports import Progress
from selection.reports.durations import count_noun
from selection.runs import money


@dataclass(frozen=True)
class RunningForecast:
    """Sentences, and parts of one; all may be empty."""

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
    """None for a run that is not under way."""
    found = reports.forecast_remaining(run, progress)
    if found is None:
        return None
    spent = f"{_format_cost(run, found.paid)} given so far, and {_format_cost(run, found.committed)} out now."
    if found.median is None:
        return RunningForecast(found.why, spent)
    low, median, high = found.answers or [found.median] * 3
    return RunningForecast(
        why="",
        spent=spent,
        to_come=_format_range(run, low, high),
        likely=_format_cost(run, median),
        certain=low == high and found.answers is not None,
        few=found.answers is None,
        time=found.time,
        cut=_describe_early_end(run, found),
        everybody=_describe_full_test(run, found.everybody),
        basis=_basis(found),
    )


def _basis(found: reports.RunningForecast) -> str:
    """Return how many simulations there were and how many finish; empty where none were needed."""
    if not found.runs:
        return ""
    few = "" if found.answers else f" Too few simulations yet for a range ({found.runs})."
    of = count_noun(found.runs, "simulation")
    return f"Finished in {found.finished} of {of}, played on from where it stood.{few}"


def _format_range(run: Run, low: int, high: int) -> str:
    if low == high:
        return f"{_format_cost(run, high)} to come"
    cost = f" ({money.format_cost_range(run, low, high)})" if run.price else ""
    return f"{low:,} – {high:,} answers to come{cost}"


def _format_cost(run: Run, answers: int) -> str:
    cost = money.format_cost(run, answers)
    return f"{answers:,} answer{'' if answers == 1 else 's'}{f' ({cost})' if cost else ''}"


def _describe_early_end(run: Run, found: reports.RunningForecast) -> str:
    """That it may end before its promise holds."""
    if found.kept is None or found.kept >= 0.95 or run.fixed_budget:
        return ""
    cut = found.runs - found.finished
    chance = f"In {cut} of {count_noun(found.runs, 'simulation')} questions or money end first"
    if found.epsilon is None or found.epsilon >= 1:
        return f"{chance}, and nothing is guaranteed by then."
    return f"{chance}, mostly with ε = {reports.rounded_up(found.epsilon):g} guaranteed by then."


def _describe_full_test(run: Run, other: reports.FullTestForecast | None) -> str:
    if other is None:
        return ""
    return (
        f"Asking everybody {other.questions:,} questions, as many as the worker asked most will "
        f"have, takes {_format_cost(run, other.answers)} in all, promises nothing, and may be "
        f"{reports.rounded_up(other.epsilon):g} short."
    )

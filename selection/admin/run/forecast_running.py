"""The forecast of a run under way, as phrases for its page."""

from datetime import timedelta

from selection import reports
from selection.facts import Facts
from selection.forecast.selected_quality import describe_selected
from selection.models import Run
from selection.reports import Progress
from selection.reports.durations import format_duration
from selection.reports.forecast_running import format_answers
from selection.runs import money
from selection.texts import count_noun, count_points

# Below this share of simulated runs that finish, the run is at risk.
SAFE = 0.95


def describe_remaining(run: Run, progress: Progress) -> Facts | None:
    """Describe the work that remains for a run, in phrases; None for a run that is not under way.

    ``spent`` is money, or answers if there is no price; ``amount`` is a range of four runs of five
    in the same unit. ``given`` and ``answers`` are the answers, if that unit is money.
    """
    forecast = reports.forecast_remaining(run, progress)
    if forecast is None:
        return None
    number = count_noun(forecast.paid, "answer")
    paid = money.format_cost(run, forecast.paid)
    so_far = {"spent": paid or number, "given": number if paid else "", "out": forecast.committed}
    if forecast.median is None:
        return Facts(**so_far, why=forecast.why, about="", risk="")
    low, median, high = forecast.answers or [forecast.median] * 3
    likely = count_noun(median, "more answer")
    answers = format_answers(low, high)
    cost = money.format_cost_range(run, low, high)
    return Facts(
        **so_far,
        why="",
        about=likely if forecast.answers and low == high else f"about {likely}",
        amount=cost or answers,
        answers=answers if cost else "",
        time=_describe_time(forecast.hours),
        risk=_describe_risk(run, forecast),
        basis=_basis(forecast),
        compare=_describe_full_test(run, forecast.everybody),
        selected=describe_selected(
            forecast.accuracy, forecast.mean_at_least, forecast.passing, run.total
        ),
    )


def _describe_time(hours: float | None) -> str:
    if hours is None:
        return ""
    return f"At most {format_duration(timedelta(hours=hours))} at the present speed."


def _basis(forecast: reports.RunningForecast) -> str:
    if not forecast.runs:
        return ""
    few = "" if forecast.answers else f" Too few simulations yet for a range ({forecast.runs})."
    simulations = count_noun(forecast.runs, "simulation")
    return f"The run finished in {forecast.finished} of {simulations} from its current state.{few}"


def format_cost(run: Run, answers: int) -> str:
    cost = money.format_cost(run, answers)
    return f"{count_noun(answers, 'answer')}{f', {cost}' if cost else ''}"


def _describe_risk(run: Run, forecast: reports.RunningForecast) -> str:
    if forecast.finished >= SAFE * forecast.runs:
        return ""
    unfinished = forecast.runs - forecast.finished
    chance = (
        f"In {unfinished} of {count_noun(forecast.runs, 'simulation')} the questions or the budget "
        "ran out first"
    )
    if forecast.epsilon_at_end is None or forecast.epsilon_at_end >= 1:
        return f"{chance}, without any guarantee."
    reached = count_points(reports.rounded_up(forecast.epsilon_at_end))
    target = count_points(run.epsilon)
    return f"{chance}. Most of these simulations achieved {reached}; the target is {target}."


def _describe_full_test(run: Run, full_test: reports.FullTestForecast | None) -> str:
    if full_test is None:
        return ""
    return (
        "For comparison: testing all workers on "
        f"{count_noun(full_test.questions, 'question')} each would take "
        f"{format_cost(run, full_test.answers)} and guarantee nothing."
    )

"""A forecast's table as text: cost, duration, and the share of simulations that finish."""

from dataclasses import replace
from datetime import timedelta

from selection import reports
from selection.algorithms import OUR_RULES, describe_variant
from selection.facts import Facts
from selection.forecast import Contender, Forecast, Plan, no_shows, share_of_runs
from selection.runs.roster.worker_prices import format_price
from selection.runs.settings import guarantee_texts
from selection.texts import count_noun
from selection.viewer_locale import format_count, format_figure

from .form import WizardInput

RARE_SHARE = 0.1  # if at most this share of simulations finishes, the text says none does
UNITS = (24, 1, 1 / 60)  # hours; a duration is given in the largest unit of which it has two
BAND = "{} to {}"


def key_of(row: Forecast) -> str:
    return "|".join([row.algorithm, describe_variant(row.options)])


def word_guarantee(row: Forecast, plan: Plan, mark: float | None) -> str:
    """Word the row's guarantee.

    mark  a pass mark beside the rule
    """
    statement = Contender(row.algorithm, plan, row.options).guarantee
    return guarantee_texts.word_plan(statement, plan.problem(), mark)


def forecast_row(row: Forecast, questions: int, wish: WizardInput | None) -> Facts:
    """Word a row. ``wish`` has price and speed; None if the address lacks them."""
    ending, verdict = describe_ending(row, questions)
    need = OUR_RULES.get(row.algorithm, "")
    if row.median is None:
        unknown = dict.fromkeys(
            ("answers", "answers_band", "cost", "cost_band", "lasts", "lasts_band"), ""
        )
        return Facts(key=key_of(row), row=row, need=need, ends=ending, verdict=verdict, **unknown)
    band = row.answers or [row.median] * 3
    price, currency = (wish.price, wish.currency) if wish else (None, "")
    costs = [format_price(answers, price, currency) for answers in band]
    durations = [_describe_duration(answers, wish) for answers in band]
    warning = f"too few simulations yet ({row.runs})" if row.few else ""
    return Facts(
        key=key_of(row),
        row=row,
        need=need,
        answers=format_count(row.median),
        answers_band=warning or _format_band(format_count(band[0]), format_count(band[2])),
        cost=costs[1],
        cost_band=_format_band(costs[0], costs[2]),
        ends=ending,
        verdict=verdict,
        lasts=durations[1],
        lasts_band=_format_band(durations[0], durations[2]),
    )


def _format_band(low: str, high: str) -> str:
    return "" if low == high else BAND.format(low, high)


def _describe_duration(answers: int, wish: WizardInput | None) -> str:
    if wish is None or not wish.speed:
        return ""
    hours = answers / wish.speed
    if hours < UNITS[-1]:
        return "under a minute"
    unit = next(unit for unit in UNITS if hours >= 2 * unit or unit == UNITS[-1])
    return reports.format_duration(timedelta(hours=unit * max(1, round(hours / unit))))


def describe_ending(row: Forecast, questions: int) -> tuple[str, str]:
    if row.answers_per_worker is None:
        return row.cannot, "bad"
    if row.few:
        return f"Too few simulations yet ({row.runs}): {row.ends}.", "warn"
    if row.fixed_budget:
        return f"No guarantee: spent the budget in {_finished_share(row)}.", "warn"
    if row.feasible and not row.keeps:
        return f"{_finished_text(row)}, but does not meet your goal.", "warn"
    if row.feasible:
        return _describe_most_questions(row, questions), "good"
    verdict = "bad" if row.finished <= RARE_SHARE * row.runs else "warn"
    cause = "questions" if row.out_of_questions >= row.out_of_budget else "budget"
    cut = round(max(row.out_of_questions, row.out_of_budget) * row.runs)
    start = "No" if verdict == "bad" else _finished_text(row)
    return f"{start}: the {cause} ran out in {share_of_runs(cut, row.runs)}.", verdict


def _describe_most_questions(row: Forecast, questions: int) -> str:
    assert row.answers_per_worker is not None
    longest, size = row.answers_per_worker["at_most"], count_noun(questions, "question")
    if longest >= questions:
        return f"Just enough: {row.ends}. In some, a worker answered all {size}."
    return f"Yes: {row.ends}. No worker answered more than {format_figure(longest)} of {size}."


def _finished_share(row: Forecast) -> str:
    return share_of_runs(row.finished, row.runs)


def _finished_text(row: Forecast) -> str:
    return f"Finished in {_finished_share(row)}"


# -- no-shows


def no_show_texts(plan: Plan, row: Forecast | None, wish: WizardInput | None) -> Facts:
    starting = no_shows.count_starting(plan.workers)
    slower = replace(wish, speed=(1 - no_shows.SHARE) * wish.speed) if wish and wish.speed else wish
    texts = forecast_row(row, plan.questions, slower) if row else None
    return Facts(starting=starting, row=texts, few=starting <= plan.k)

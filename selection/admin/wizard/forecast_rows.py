"""A forecast's table as text: cost, duration, and the share of simulations that finish."""

from collections.abc import Collection, Sequence
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

from .choices import EXACT, KIND_OF_CROWD, SINGLE_POOL
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


EXACT_RULE = "pair-lucb"
# Our rules whose guarantee covers less than the need.
TOO_NARROW = {KIND_OF_CROWD: {"credible"}, SINGLE_POOL: {"credible", "universal"}}


def arrange_rows(
    rows: Sequence[Forecast],
    need: str,
    refused: Collection[str] = (),
    models: bool = False,
    chosen: str = "",
) -> Facts:
    """Arrange the forecast's rows, which are in order of merit, for this need.

    refused  algorithms with which the run's settings cannot be saved: they are left out
    models   True for models alone: recommend a guarantee on this question set
    chosen   the algorithm that the requester has chosen; empty: recommend one
    """
    rows = [row for row in rows if row.cannot or row.algorithm not in refused]
    possible = [row for row in rows if not row.cannot]
    fitting = [row for row in possible if row.algorithm not in TOO_NARROW.get(need, ())]
    if chosen:
        fitting = [row for row in possible if row.algorithm == chosen]
    if models:
        fitting = list_on_set(fitting) or fitting
    best = next(iter(fitting or ([] if chosen else possible)), None)
    exact = next((row for row in possible if row.algorithm == EXACT_RULE), None)
    if need == EXACT and not chosen and best and exact and exact.feasible >= best.feasible:
        best = exact  # a median of few simulations does not say which exact rule is cheapest
    cheapest = {row.algorithm: row for row in reversed(rows)}
    if best:
        del cheapest[best.algorithm]
    rules = [cheapest[name] for name in OUR_RULES if name in cheapest]
    others = [row for row in rows if row is not best and row not in rules]
    return Facts(best=best, rules=rules, others=others)


def list_on_set(rows: Sequence[Forecast]) -> list[Forecast]:
    """List the rows that meet the goal with a guarantee on this question set."""
    return [row for row in rows if row.keeps and describe_variant(row.options)]

"""A forecast's table as text: answers, cost and duration."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from selection import reports
from selection.algorithms import OUR_RULES, describe_variant
from selection.facts import Facts
from selection.forecast import Forecast, Plan, no_shows
from selection.runs.roster.worker_prices import AnswerPrice, format_price
from selection.viewer_locale import format_count

from .choices import EXACT, KIND_OF_CROWD, SINGLE_POOL
from .form import WizardInput


def key_of(row: Forecast) -> str:
    return "|".join([row.algorithm, describe_variant(row.options)])


def forecast_row(
    row: Forecast, price: AnswerPrice = None, currency: str = "", speed: float | None = None
) -> Facts:
    """Word a row. ``speed`` is in answers per hour."""
    facts = Facts(key=key_of(row), row=row, need=OUR_RULES.get(row.algorithm, ""))
    if row.median is None:
        return facts
    band = row.answers or [row.median] * 3
    texts = {
        "answers": [format_count(answers) for answers in band],
        "cost": [format_price(answers, price, currency) for answers in band],
        "lasts": [
            reports.format_duration(timedelta(hours=answers / speed)) if speed else ""
            for answers in band
        ],
    }
    for name, (low, median, high) in texts.items():
        setattr(facts, name, median)
        setattr(facts, f"{name}_band", "" if low == high else f"{low} to {high}")
    if row.few:
        facts.answers_band = f"too few simulations yet ({row.runs})"
    return facts


def row_of_wish(row: Forecast, wish: WizardInput | None) -> Facts:
    """Word a row with the form's price and speed; ``wish`` is None if the address lacks them."""
    return forecast_row(row, wish.price, wish.currency, wish.speed) if wish else forecast_row(row)


# -- no-shows


def no_show_texts(plan: Plan, row: Forecast | None, wish: WizardInput | None) -> Facts:
    starting = no_shows.count_starting(plan.workers)
    slower = replace(wish, speed=(1 - no_shows.SHARE) * wish.speed) if wish and wish.speed else wish
    texts = row_of_wish(row, slower) if row else None
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

"""The recommended method for a need, our other rules beside it, and the other methods."""

from collections.abc import Collection, Sequence

from selection.algorithms import OUR_RULES, describe_variant
from selection.facts import Facts
from selection.forecast import Forecast

from .choices import EXACT, KIND_OF_CROWD, SINGLE_POOL

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

"""Forecast of a run in which a fifth of the workers never start: the same plan with the others."""

from collections.abc import Sequence
from dataclasses import replace

from selection.algorithms import OUR_RULES

from .candidates import Contender
from .plan import Plan
from .rows import Forecast

SHARE = 0.2  # of the workers never start
CURVE = "absent"  # the name of these parts of a forecast


def count_starting(workers: int) -> int:
    return round((1 - SHARE) * workers)


def plan_of_starting(plan: Plan) -> Plan:
    """Reduce the plan to the workers that start. Raises Refused if no more than K of them do."""
    met = [(questions, count_starting(many)) for questions, many in plan.met]
    starting = tuple((questions, many) for questions, many in met if many)
    return replace(plan, workers=count_starting(plan.workers), met=starting)


def points_to_simulate(plan: Plan, rows: Sequence[Forecast]) -> list[tuple[str, float, Contender]]:
    """List (curve, share, contender) of the first row and of each of our rules."""
    if plan.k >= count_starting(plan.workers):
        return []
    rules = {row.algorithm: row for row in reversed(rows) if row.algorithm in OUR_RULES}
    chosen = [*rows[:1], *(row for row in rules.values() if row not in rows[:1])]
    return [
        (CURVE, SHARE, Contender(row.algorithm, plan, row.options))
        for row in chosen
        if not row.cannot
    ]

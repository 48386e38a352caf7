"""Time until a forecast's first table, and its state after half a minute of one core."""

import time

from selection.forecast import DefaultBelief, Plan, refine_forecasts

from .tables import show

PLANS = (Plan(30, 5, 0.1, 0.05, 40), Plan(100, 20, 0.05, 0.05, 200), Plan(1000, 100, 0.1, 0.05, 40))
SECONDS = 30.0


def main() -> None:
    columns = ["workers", "", "seconds", "algorithms", "runs of the first", "runs of the last"]
    next(refine_forecasts(PLANS[0], DefaultBelief(), 0.1))  # what is compiled or read is ready
    show("Forecasts", columns, [row for plan in PLANS for row in measure(plan)])


def measure(plan: Plan) -> list[list[object]]:
    began = time.perf_counter()
    tables = refine_forecasts(plan, DefaultBelief(), SECONDS)
    first = next(tables)
    took = time.perf_counter() - began
    *_, last = tables
    results = (("first table", took, first), ("refined", time.perf_counter() - began, last))
    return [
        [plan.workers, name, seconds, len(rows), rows[0].runs, min(row.runs for row in rows)]
        for name, seconds, rows in results
    ]

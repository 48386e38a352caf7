"""Time until a forecast's first table, and its state after half a minute of one core."""

import time
from math import inf

from selection.forecast import DefaultBelief, Plan
from selection.forecast.candidates import suitable_contenders
from selection.forecast.parts import Part
from selection.forecast.refining import first_round
from selection.forecast.rows import SimulationLedger, forecast_table

from .tables import show

PLANS = (Plan(30, 5, 0.1, 0.05, 40), Plan(100, 20, 0.05, 0.05, 200), Plan(1000, 100, 0.1, 0.05, 40))
FIRST, SECONDS = 2.0, 30.0


def main() -> None:
    columns = ["workers", "", "seconds", "algorithms", "runs of the first", "runs of the last"]
    first_round(_list_ledgers(PLANS[0]), DefaultBelief(), inf)  # what is compiled or read is ready
    show("Forecasts", columns, [row for plan in PLANS for row in measure(plan)])


def measure(plan: Plan) -> list[list[object]]:
    began, belief = time.perf_counter(), DefaultBelief()
    ledgers = _list_ledgers(plan)
    first_round(ledgers, belief, time.thread_time() + FIRST)
    rows = [_measure_table("first table", plan, ledgers, began)]
    parts = [Part(ledger) for ledger in ledgers]
    while time.perf_counter() - began < SECONDS and not all(part.is_finished for part in parts):
        min(parts, key=lambda part: (part.is_finished, part.turn_key)).simulate(belief)
    return [*rows, _measure_table("refined", plan, ledgers, began)]


def _list_ledgers(plan: Plan) -> list[SimulationLedger]:
    return [SimulationLedger(contender) for contender in suitable_contenders(plan)]


def _measure_table(
    name: str, plan: Plan, ledgers: list[SimulationLedger], began: float
) -> list[object]:
    table = forecast_table(plan, ledgers)
    seconds, fewest = time.perf_counter() - began, min(row.runs for row in table)
    return [plan.workers, name, seconds, len(table), table[0].runs, fewest]

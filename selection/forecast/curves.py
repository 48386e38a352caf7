"""Costs for other ε and other K: a few points of each, for a few algorithms."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .candidates import Contender, suitable_contenders
from .parts import Part
from .plan import Plan
from .rows import Forecast, SimulationLedger, cost_in_money, summary

EPSILONS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)  # of the workers: other values of K
SHOWN = 3  # algorithms


def points_to_simulate(plan: Plan, rows: Sequence[Forecast]) -> list[tuple[str, float, Contender]]:
    plans = [("epsilon", at, plan.replace_epsilon(at)) for at in EPSILONS if at != plan.epsilon]
    plans += [("k", k, replace(plan, k=k)) for k in _k_values(plan)]
    return [
        (curve, at, replace(contender, plan=varied))
        for contender in contenders_in_chart(plan, rows)
        for curve, at, varied in plans
    ]


def contenders_in_chart(plan: Plan, rows: Sequence[Forecast]) -> list[Contender]:
    """Choose the first that guarantee the goal and take an ε, in the order of the table."""
    contenders = {
        (contender.name, contender.title): contender for contender in suitable_contenders(plan)
    }
    charted = [contenders[row.algorithm, row.title] for row in rows if row.keeps]
    return [contender for contender in charted if "epsilon" in contender.selector().needs][:SHOWN]


def _k_values(plan: Plan) -> list[int]:
    ks = {round(share * plan.workers) for share in SHARES}
    return sorted(k for k in ks if 1 <= k < plan.workers and k != plan.k)


def curve_points(plan: Plan, simulated: Sequence[Part]) -> dict[str, list[dict[str, Any]]]:
    drawn = {part.variant for part in simulated if part.curve}
    curves: dict[str, list[dict[str, Any]]] = {"epsilon": [], "k": []}
    for part in simulated:
        if part.curve:
            curves[part.curve].append(_point_values(part.at, part.ledger))
        elif part.variant in drawn:
            curves["epsilon"].append(_point_values(plan.epsilon, part.ledger))
            curves["k"].append(_point_values(plan.k, part.ledger))
    return {
        curve: sorted(points, key=lambda point: point["at"]) for curve, points in curves.items()
    }


def _point_values(at: float, ledger: SimulationLedger) -> dict[str, Any]:
    contender, plan = ledger.contender, ledger.contender.plan
    answers, median = summary(plan, ledger.plays)
    return {
        "at": at,
        "answers": answers,
        "median": median,
        "runs": len(ledger.plays),
        "cost": cost_in_money(plan, answers),
        "feasible": ledger.feasible,
        "algorithm": contender.name,
        "title": contender.title,
    }

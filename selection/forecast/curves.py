"""Costs for other ε and other K: a few points of each, for a few algorithms."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .candidates import Contender
from .parts import Part
from .plan import Plan
from .rows import Forecast, SimulationLedger, build_row

EPSILONS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)  # of the workers: other values of K
SHOWN = 3  # algorithms


def points_to_simulate(plan: Plan, rows: Sequence[Forecast]) -> list[tuple[str, float, Contender]]:
    """List (curve, value, contender) of the table's first that guarantee the goal and take an ε."""
    points = [("epsilon", at) for at in EPSILONS if at != plan.epsilon]
    points += [("k", k) for k in _k_values(plan)]
    charted = [Contender(row.algorithm, plan, row.options) for row in rows if row.keeps]
    with_epsilon = [each for each in charted if "epsilon" in each.selector().needs]
    return [(curve, at, each) for each in with_epsilon[:SHOWN] for curve, at in points]


def _k_values(plan: Plan) -> list[int]:
    ks = {round(share * plan.workers) for share in SHARES}
    return sorted(k for k in ks if 1 <= k < plan.workers and k != plan.k)


def curve_points(plan: Plan, simulated: Sequence[Part]) -> dict[str, list[dict[str, Any]]]:
    drawn = {part.ledger.contender.title for part in simulated if part.curve}
    curves: dict[str, list[dict[str, Any]]] = {"epsilon": [], "k": []}
    for part in simulated:
        if part.curve:
            curves[part.curve].append(_point_values(part.at, part.ledger))
        elif part.ledger.contender.title in drawn:
            curves["epsilon"].append(_point_values(plan.epsilon, part.ledger))
            curves["k"].append(_point_values(plan.k, part.ledger))
    return {
        curve: sorted(points, key=lambda point: point["at"]) for curve, points in curves.items()
    }


def _point_values(at: float, ledger: SimulationLedger) -> dict[str, Any]:
    return {"at": at, **asdict(build_row(ledger.contender.plan, ledger))}

"""What is to be paid for other ε and other K: a few points of each, for a few algorithms."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from selection.models import PlanningPart

from .candidates import Contender, suitable
from .plan import Plan
from .rows import Forecast, Ledger, money, summary

EPSILONS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)  # of the workers: what else K may be
SHOWN = 3  # algorithms


def to_simulate(plan: Plan, rows: Sequence[Forecast]) -> list[tuple[str, float, Contender]]:
    """(what is varied, its value, what is to be simulated); the plan's own point is a row."""
    plans = [("epsilon", at, plan.at(at)) for at in _epsilons(plan)]
    plans += [("k", k, replace(plan, k=k)) for k in _ks(plan)]
    return [
        (curve, at, replace(one, plan=varied))
        for one in shown(plan, rows)
        for curve, at, varied in plans
    ]


def shown(plan: Plan, rows: Sequence[Forecast]) -> list[Contender]:
    """The first that promise what matters and know an ε, as the table has them.

    The cautious would run beside their own, and take another's place.
    """
    able = {(one.name, one.title): one for one in suitable(plan)}
    rows = [row for row in rows if row.keeps and not row.options.get("cautious")]
    found = [able[row.algorithm, row.title] for row in rows]
    return [one for one in found if "epsilon" in one.selector().needs][:SHOWN]


def _epsilons(plan: Plan) -> list[float]:
    return [epsilon for epsilon in EPSILONS if epsilon != plan.epsilon]


def _ks(plan: Plan) -> list[int]:
    ks = {round(share * plan.workers) for share in SHARES}
    return sorted(k for k in ks if 1 <= k < plan.workers and k != plan.k)


def points(
    plan: Plan, made: Sequence[tuple[PlanningPart, Ledger]]
) -> dict[str, list[dict[str, Any]]]:
    """As ``orders.curves`` says: those simulated, and the plan's own of the same algorithms."""
    drawn = {_which(part) for part, _ in made if part.curve}
    found: dict[str, list[dict[str, Any]]] = {"epsilon": [], "k": []}
    for part, ledger in made:
        if part.curve:
            found[part.curve].append(_point(part.at, ledger))
        elif _which(part) in drawn:
            found["epsilon"].append(_point(plan.epsilon, ledger))
            found["k"].append(_point(plan.k, ledger))
    return {curve: sorted(all_, key=lambda one: one["at"]) for curve, all_ in found.items()}


def _which(part: PlanningPart) -> tuple[str, str]:
    return part.algorithm, str(sorted(part.options.items()))


def _point(at: float, ledger: Ledger) -> dict[str, Any]:
    one, plan = ledger.contender, ledger.contender.plan
    answers, median = summary(plan, ledger.plays)
    return {
        "at": at,
        "answers": answers,
        "median": median,
        "runs": len(ledger.plays),
        "cost": money(plan, answers),
        "feasible": ledger.feasible,
        "algorithm": one.name,
        "title": one.title,
    }

"""Which ε a sum of money reaches, by a few simulated runs: where a forecast of it may begin."""

from dataclasses import replace
from time import monotonic
from typing import Any

from .beliefs import Belief
from .candidates import Contender, suitable_contenders
from .plan import MOST_AT_ONCE, Plan
from .simulations import SimulatedEnding, TooLong, draw_pool, simulate_run
from .spending import EPSILONS

SECONDS = 0.5


def first_epsilon(plan: Plan, belief: Belief) -> float:
    """The least of EPSILONS that one run of the likeliest algorithm reaches within the budget.

    By halving, one run each, for about half a second: what is known by then. A large pool is
    played on a small one that has the same share of everything. ``reaches`` says it firmly, and in
    more time. Raises Refused if no algorithm can be run on this plan.
    """
    plan, until = _small(plan), monotonic() + SECONDS
    low, high = 0, len(EPSILONS)  # all below ``low`` are reached
    while low < high and monotonic() < until:
        middle = (low + high) // 2
        able = [one for one in suitable_contenders(plan.at(EPSILONS[middle])) if one.fits]
        one = (able or suitable_contenders(plan.at(EPSILONS[middle])))[0]
        if _reaches(one, belief, until):
            low = middle + 1
        else:
            high = middle
    return EPSILONS[max(low - 1, 0)]


def _reaches(one: Contender, belief: Belief, until: float) -> bool:
    try:
        return (
            simulate_run(one, draw_pool(one, belief, 0), 0, until).ending is SimulatedEnding.PROMISE
        )
    except TooLong:
        return False


def _small(plan: Plan) -> Plan:
    """Return the plan, with as many of its workers as a request may wait for."""
    share = MOST_AT_ONCE / plan.work
    workers = max(2, int(plan.workers * share))
    if share >= 1 or workers >= plan.workers:
        return plan
    k = min(max(1, round(plan.k * share)), workers - 1)
    return replace(plan, workers=workers, k=k, met=(), **_share_of(plan, share))


def _share_of(plan: Plan, share: float) -> dict[str, Any]:
    """Return the plan's limits on answers, where it has them, as this share of them."""
    limits = {"budget": plan.budget, "left": plan.left}
    return {name: max(1, int(most * share)) for name, most in limits.items() if most is not None}

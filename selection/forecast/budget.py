"""The ε that a sum of money reaches, by a few simulated runs: a start for its forecast."""

from bisect import bisect_left
from dataclasses import replace
from math import inf
from time import thread_time
from typing import Any

from .beliefs import Belief
from .candidates import suitable_contenders
from .plan import MOST_AT_ONCE, Plan
from .simulations import SimulatedEnding, TooLong, draw_pool, simulate_run

EPSILONS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01)
SECONDS = 0.5


def first_epsilon(plan: Plan, belief: Belief) -> float:
    """Find the least of EPSILONS that one run of the likeliest algorithm can afford.

    By bisection, one run each, for about half a second of work: a busy machine finds the same. A
    large pool is replaced by a small one that has the same share of everything.
    Raises Refused if no algorithm can be run on this plan.
    """
    plan = _small(plan)
    if not _reaches(plan.replace_epsilon(EPSILONS[0]), belief, inf):  # compiled loops are loaded
        return EPSILONS[0]
    until = thread_time() + SECONDS
    reached = bisect_left(
        EPSILONS,
        True,
        key=lambda epsilon: not _reaches(plan.replace_epsilon(epsilon), belief, until),
    )
    return EPSILONS[max(reached - 1, 0)]


def _reaches(plan: Plan, belief: Belief, until: float) -> bool:
    """Tell if the likeliest algorithm keeps its guarantee in time."""
    if thread_time() >= until:
        return False
    contenders = suitable_contenders(plan)
    contender = next((each for each in contenders if each.fits), contenders[0])
    try:
        ending = simulate_run(contender, draw_pool(contender, belief, 0), 0, until).ending
    except TooLong:
        return False
    return ending is SimulatedEnding.GUARANTEE


def _small(plan: Plan) -> Plan:
    """Shrink the plan to as many of its workers as a request may wait for."""
    share = MOST_AT_ONCE / plan.work
    workers = max(2, int(plan.workers * share))
    if share >= 1 or workers >= plan.workers:
        return plan
    k = min(max(1, round(plan.k * share)), workers - 1)
    limits = {"budget": plan.budget, "left": plan.left}
    small: dict[str, Any] = {
        name: most and max(1, int(most * share)) for name, most in limits.items()
    }
    return replace(plan, workers=workers, k=k, met=(), **small)

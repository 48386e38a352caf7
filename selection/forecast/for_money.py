"""Which ε a sum of money reaches, by a few simulated runs: where a forecast of it may begin."""

from time import monotonic

from .beliefs import Belief
from .contenders import suitable
from .plan import Plan
from .plays import Ending, play, pool
from .spending import EPSILONS

SECONDS = 1.0


def first_epsilon(plan: Plan, belief: Belief) -> float:
    """The least of EPSILONS that one run of the likeliest algorithm reaches within the budget.

    By halving, one run each, for about a second: what is known by then. ``reaches`` says it
    firmly, and in more time. Raises Refused if no algorithm can be run on this plan.
    """
    began, low, high = monotonic(), 0, len(EPSILONS)  # all below ``low`` are reached
    while low < high and monotonic() - began < SECONDS:
        middle = (low + high) // 2
        able = [one for one in suitable(plan.at(EPSILONS[middle])) if one.fits]
        one = (able or suitable(plan.at(EPSILONS[middle])))[0]
        if play(one, pool(one, belief, 0), 0).ending is Ending.PROMISE:
            low = middle + 1
        else:
            high = middle
    return EPSILONS[max(low - 1, 0)]

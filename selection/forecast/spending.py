"""The other way round: which epsilon a sum of money reaches."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from time import thread_time
from typing import Any

from .bands import MANY
from .beliefs import Belief
from .candidates import Contender, suitable_contenders
from .plan import Plan
from .simulations import SimulatedEnding, draw_pool, simulate_run

EPSILONS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01)
RUNS, KEPT = MANY, 0.8


@dataclass(frozen=True)
class ReachableEpsilon:
    """epsilon  the least of EPSILONS that questions and budget reach in four runs of five; None:
    not even the first"""

    algorithm: str
    title: str
    options: dict[str, Any]
    promise: str
    keeps: bool
    epsilon: float | None
    recommended: bool = False

    def as_numbers(self) -> dict[str, Any]:
        return asdict(self)


def search_reachable(
    plan: Plan, belief: Belief, seconds: float
) -> Iterator[list[ReachableEpsilon]]:
    """Tables of ever more algorithms, those of ``suitable``; each has its row once it is searched.

    plan     with a budget; its epsilon does not matter
    seconds  of processor time, about: what is not searched by then has no row; one is at least

    Algorithms that know no epsilon, or spend a budget for no promise, have no row.
    """
    began, found = thread_time(), list[ReachableEpsilon]()
    for one in suitable_contenders(plan.at(EPSILONS[0])):
        if "epsilon" not in one.selector().needs or one.fixed_budget:
            continue
        if found and thread_time() - began > seconds:
            break
        found.append(_search_epsilon(one, belief))
        yield _mark_recommended(found)


def _mark_recommended(found: list[ReachableEpsilon]) -> list[ReachableEpsilon]:
    order = sorted(found, key=lambda row: (not row.keeps, row.epsilon or 1.0))
    return [replace(row, recommended=row is order[0]) for row in order]


def _search_epsilon(one: Contender, belief: Belief) -> ReachableEpsilon:
    """By halving: a smaller epsilon never costs less, apart from luck."""
    low, high = 0, len(EPSILONS)  # the first ``low`` are reached, all from ``high`` on are not
    while low < high:
        middle = (low + high) // 2
        if _keeps_guarantee(replace(one, plan=one.plan.at(EPSILONS[middle])), belief):
            low = middle + 1
        else:
            high = middle
    epsilon = EPSILONS[low - 1] if low else None
    promised = one.plan.at(epsilon or EPSILONS[0]).problem()
    sentence = one.promise.sentence(promised) if low else "Nothing."
    return ReachableEpsilon(one.name, one.title, one.options, sentence, one.fits, epsilon)


def _keeps_guarantee(one: Contender, belief: Belief) -> bool:
    """Whether enough of the runs keep the promise; as soon as they cannot, no more is played."""
    broken = 0
    for number in range(RUNS):
        broken += (
            simulate_run(one, draw_pool(one, belief, number), number).ending
            is not SimulatedEnding.PROMISE
        )
        if broken > (1 - KEPT) * RUNS:
            return False
    return True

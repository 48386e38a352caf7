"""The other way round: which epsilon a sum of money reaches."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from time import thread_time
from typing import Any

from .bands import MANY
from .beliefs import Belief
from .candidates import Contender, suitable
from .plan import Plan
from .simulations import Ending, play, pool

EPSILONS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01)
RUNS, KEPT = MANY, 0.8


@dataclass(frozen=True)
class Reach:
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


def reaches(plan: Plan, belief: Belief, seconds: float) -> Iterator[list[Reach]]:
    """Tables of ever more algorithms, those of ``suitable``; each has its row once it is searched.

    plan     with a budget; its epsilon does not matter
    seconds  of processor time, about: what is not searched by then has no row; one is at least

    Algorithms that know no epsilon, or spend a budget for no promise, have no row.
    """
    began, found = thread_time(), list[Reach]()
    for one in suitable(plan.at(EPSILONS[0])):
        if "epsilon" not in one.selector().needs or one.fixed_budget:
            continue
        if found and thread_time() - began > seconds:
            break
        found.append(_reach(one, belief))
        yield _with_best(found)


def _with_best(found: list[Reach]) -> list[Reach]:
    order = sorted(found, key=lambda row: (not row.keeps, row.epsilon or 1.0))
    return [replace(row, recommended=row is order[0]) for row in order]


def _reach(one: Contender, belief: Belief) -> Reach:
    """By halving: a smaller epsilon never costs less, apart from luck."""
    low, high = 0, len(EPSILONS)  # the first ``low`` are reached, all from ``high`` on are not
    while low < high:
        middle = (low + high) // 2
        if _kept(replace(one, plan=one.plan.at(EPSILONS[middle])), belief):
            low = middle + 1
        else:
            high = middle
    epsilon = EPSILONS[low - 1] if low else None
    promised = one.plan.at(epsilon or EPSILONS[0]).problem()
    sentence = one.promise.sentence(promised) if low else "Nothing."
    return Reach(one.name, one.title, one.options, sentence, one.fits, epsilon)


def _kept(one: Contender, belief: Belief) -> bool:
    """Whether enough of the runs keep the promise; as soon as they cannot, no more is played."""
    broken = 0
    for number in range(RUNS):
        broken += play(one, pool(one, belief, number), number).ending is not Ending.PROMISE
        if broken > (1 - KEPT) * RUNS:
            return False
    return True

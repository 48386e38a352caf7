"""The reverse question: the epsilon that a sum of money reaches."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
    """Result for one algorithm.

    epsilon  the least of EPSILONS that questions and budget reach in four runs of five; None: not
             even the first
    """

    algorithm: str
    title: str
    options: dict[str, Any]
    promise: str
    keeps: bool
    epsilon: float | None
    recommended: bool = False


def search_reachable(
    plan: Plan, belief: Belief, seconds: float
) -> Iterator[list[ReachableEpsilon]]:
    """Yield growing tables, with a row for each of ``suitable_contenders`` that was searched.

    plan     with a budget; its epsilon does not matter
    seconds  of processor time, about: algorithms that are not searched by then have no row; one is
             at least

    Algorithms that take no epsilon, or spend a budget without a guarantee, have no row.
    """
    began, rows = thread_time(), list[ReachableEpsilon]()
    for contender in suitable_contenders(plan.replace_epsilon(EPSILONS[0])):
        if "epsilon" not in contender.selector().needs or contender.fixed_budget:
            continue
        if rows and thread_time() - began > seconds:
            break
        rows.append(_search_epsilon(contender, belief))
        yield _mark_recommended(rows)


def _mark_recommended(rows: list[ReachableEpsilon]) -> list[ReachableEpsilon]:
    order = sorted(rows, key=lambda row: (not row.keeps, row.epsilon or 1.0))
    return [replace(row, recommended=row is order[0]) for row in order]


def _search_epsilon(contender: Contender, belief: Belief) -> ReachableEpsilon:
    """Search by bisection: a smaller epsilon never costs less, apart from luck."""
    reached = bisect_left(
        EPSILONS, True, key=lambda epsilon: not _keeps_guarantee(contender, epsilon, belief)
    )
    epsilon = EPSILONS[reached - 1] if reached else None
    promised = contender.plan.replace_epsilon(epsilon or EPSILONS[0]).problem()
    sentence = contender.promise.sentence(promised) if reached else "Nothing."
    return ReachableEpsilon(
        contender.name, contender.title, contender.options, sentence, contender.fits, epsilon
    )


def _keeps_guarantee(contender: Contender, epsilon: float, belief: Belief) -> bool:
    """Tell if enough of the runs keep the guarantee; stop early once they cannot."""
    broken, contender = 0, replace(contender, plan=contender.plan.replace_epsilon(epsilon))
    for number in range(RUNS):
        broken += (
            simulate_run(contender, draw_pool(contender, belief, number), number).ending
            is not SimulatedEnding.PROMISE
        )
        if broken > (1 - KEPT) * RUNS:
            return False
    return True

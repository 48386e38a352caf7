"""Fixed-budget algorithms: uniform, successive rejects, and accepts and rejects by phase.

SR, SAR  Bubeck, Wang, Viswanathan: Multiple identifications in multi-armed bandits, ICML 2013
CSAR     Chen, Lin, King, Lyu, Chen: Combinatorial pure exploration of multi-armed bandits, 2014
"""

from typing import ClassVar

import numpy as np

from topk.best_sets import rank_arms
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.problem import ProblemError
from topk.selector import Counts, Floats
from topk.state import Verdict

from .rounds import RoundSelector, peel


class Uniform(RoundSelector):
    """Floor(Q / n) pulls of each arm, then the K best means."""

    name = "uniform"
    title = "Uniform"
    guarantee = Guarantee(Goal.EXACT, "budget", "Bubeck, Wang, Viswanathan 2013, experiments")
    needs = ("budget",)

    def _check(self) -> None:
        if (self.problem.budget or 0) < self.problem.n:
            raise ProblemError(f"{self.title} needs a budget of at least one answer per worker.")

    def _target(self) -> Counts:
        return np.full(self.problem.n, (self.problem.budget or 0) // self.problem.n)

    def _close(self) -> None:
        self._take_the_best("by equal numbers of answers")


class PhaseSelector(RoundSelector):
    """Phases that bring every active arm to ``schedule[p - 1]`` pulls and take out one arm.

    Phases that add no pulls are closed together, because nothing is learned between them.

    arm_label  the word for an arm in messages
    """

    needs = ("budget",)
    arm_label: ClassVar[str] = "worker"

    def _check(self) -> None:
        if (self.problem.budget or 0) <= self.problem.n:
            raise ProblemError(
                f"{self.title} needs a budget above {self.problem.n}: "
                f"more than one answer per {self.arm_label}."
            )
        self.schedule = self._schedule()

    def _schedule(self) -> Counts:
        """Compute (phases,) n_p, the pulls of an active arm after each phase."""
        n, budget = self.problem.n, self.problem.budget or 0
        sizes = n + 1 - np.arange(1, self._phases() + 1)
        # Rounded up past errors of the last bit, which would break the budget.
        return np.ceil((budget - n) / (self._log() * sizes) - 1e-9).astype(np.int64)

    def _phases(self) -> int:
        return self.problem.n - 1

    def _log(self) -> float:
        """Compute Lbar(n) = 1/2 + sum of 1/i, i = 2..n."""
        return 0.5 + _harmonic_sum(2, self.problem.n)

    def _phase(self) -> int:
        return min(self.round, self.schedule.size)

    def _target(self) -> Counts:
        before = self.schedule[self._phase() - 2] if self.round > 1 else 0
        return np.full(self.problem.n, self.schedule[self._phase() - 1] - before)

    def _close(self) -> None:
        """End this phase and all after it that add no pulls."""
        reached = self.schedule[self._phase() - 1]
        last = int(np.searchsorted(self.schedule, reached, side="right"))
        arms = np.flatnonzero(self.undecided)
        order = arms[rank_arms(self.state.memory["means"][arms])]
        self._end(order, last + 1 - self.round)
        self._settle_the_rest()
        self.state.memory["round"] = last

    def _end(self, order: Counts, count: int) -> None:
        """Take out ``count`` of the active arms, which are ordered from best to worst."""
        front, back = peel(self.state.memory["means"][order], self.places, count)
        when = f"the largest gap in phase {self.round}"
        self._decide_all(order[:front], Verdict.ACCEPTED, when)
        self._decide_all(order[order.size - back :], Verdict.REJECTED, when)


class SAR(PhaseSelector):
    name = "sar"
    title = "SAR"
    guarantee = Guarantee(Goal.EXACT, "budget", "Bubeck, Wang, Viswanathan 2013, Theorem 1")


class CSAR(PhaseSelector):
    """CSAR for top-K: the gap to the best set without (with) an arm is SAR's, the schedule not."""

    name = "csar"
    title = "CSAR"
    guarantee = Guarantee(Goal.EXACT, "budget", "Chen, Lin, King, Lyu, Chen 2014")

    def _phases(self) -> int:
        return self.problem.n

    def _log(self) -> float:
        """Sum 1/i from 1, instead of 1/2 + the sum from 2."""
        return _harmonic_sum(1, self.problem.n)


class SR(PhaseSelector):
    """Successive Rejects: one of the worst arms leaves in each of n - K phases.

    The paper does not say how its schedule is cut for K > 1. "plain" keeps the schedule of K = 1
    and does not spend the rest; "renormalised" is ours and spends all.
    """

    name = "sr"
    title = "Successive Rejects"
    guarantee = Guarantee(Goal.EXACT, "budget", "Bubeck, Wang, Viswanathan 2013, experiments")
    known_options: ClassVar[tuple[Option, ...]] = (
        Option(
            "schedule",
            "plain",
            "The schedule for one best worker cut short (plain), or our own, which spends all.",
            "choice",
            ("plain", "renormalised"),
        ),
    )

    def _phases(self) -> int:
        return self.problem.n - self.problem.k

    def _log(self) -> float:
        if self.options["schedule"] == "plain":
            return super()._log()
        return 1 + _harmonic_sum(self.problem.k + 2, self.problem.n)

    def _end(self, order: Counts, count: int) -> None:
        why = f"the least mean in phase {self.round}"
        self._decide_all(order[order.size - count :], Verdict.REJECTED, why)


def _harmonic_sum(first: int, last: int) -> float:
    terms: Floats = 1 / np.arange(first, last + 1)
    return float(terms.sum())

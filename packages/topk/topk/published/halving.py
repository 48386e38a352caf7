"""Halving and OptMAI: rounds that drop a fixed share of the arms.

Halving  Kalyanakrishnan, Stone: Efficient selection of multiple bandit arms, ICML 2010
OptMAI   Zhou, Chen, Li: Optimal PAC multiple arm identification with applications to crowdsourcing,
         ICML 2014
"""

import math
from typing import ClassVar

import numpy as np

from topk.best_sets import rank_arms
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.problem import ProblemError
from topk.selector import Counts, Floats
from topk.state import Verdict

from .rounds import RoundSelector, peel


class Halving(RoundSelector):
    """Stages of ceil((2 / eps_l^2) ln(3K / delta_l)) fresh pulls of each arm, then half of the arms
    leave.
    """

    name = "halving"
    covers_leavers = False
    title = "Halving"
    guarantee = Guarantee(
        Goal.EXPLORE_K, "confidence", "Kalyanakrishnan, Stone 2010; proof rederived"
    )
    epsilon_moves = False  # it sets the length of every round
    fresh = True

    def _check(self) -> None:
        if not self.problem.epsilon > 0:
            raise ProblemError(f"{self.title} needs an epsilon above 0.")

    def _target(self) -> Counts:
        epsilon = self.problem.epsilon / 4 * 0.75 ** (self.round - 1)
        delta = self.problem.delta / 2**self.round
        pulls = math.ceil(2 / epsilon**2 * math.log(3 * self.problem.k / delta))
        return np.full(self.problem.n, pulls)

    def _close(self) -> None:
        arms = np.flatnonzero(self.undecided)
        keep = max(math.ceil(arms.size / 2), self.problem.k)
        losers = arms[rank_arms(self.state.memory["means"][arms])[keep:]]
        self._decide_all(losers, Verdict.REJECTED, f"in the lower half of stage {self.round}")
        self._settle_the_rest()

    def _score(self) -> Floats:
        means: Floats = self.state.memory["means"]
        return means if self.round > 1 else super()._score()


BETA = Option(
    "beta",
    math.exp(0.2) * 0.75,
    "Share of the answers that each round leaves to the later ones; the analysis has 0.916.",
    above=0,
    most=0.999,
)


class OptMAIBudget(RoundSelector):
    """Rounds that spend beta^r (1 - beta) Q on the arms left, then drop a quarter of them.

    While there are more than 4K arms, the lowest quarter leaves (QE); after that, arms are accepted
    or rejected by gap until a quarter has left (AR). With K above n/2 the n - K worst arms are
    sought, with rewards mirrored.
    """

    name = "opt-mai-budget"
    title = "OptMAI, fixed budget"
    guarantee = Guarantee(Goal.AGGREGATE, "budget", "Zhou, Chen, Li 2014")
    needs: ClassVar[tuple[str, ...]] = ("budget",)
    known_options: ClassVar[tuple[Option, ...]] = (BETA,)
    fresh = True

    @property
    def mirrored(self) -> bool:
        """True if the worst arms are sought."""
        return 2 * self.problem.k > self.problem.n

    def _total(self) -> int:
        """Count Q, the answers that all rounds together may take."""
        return self.problem.budget or 1

    def _target(self) -> Counts:
        beta, size = self.options["beta"], int(self.undecided.sum())
        share = beta ** (self.round - 1) * (1 - beta) * self._total()
        # One pull at least, or a round would judge arms without data; Q is an outer bound anyway.
        return np.full(self.problem.n, max(1, int(share / max(size, 1))))

    def _close(self) -> None:
        arms, means = np.flatnonzero(self.undecided), self.state.memory["means"]
        order = arms[rank_arms(-means[arms] if self.mirrored else means[arms])]
        # order: from the best to the worst, mirrored if the worst are sought; left: places still to
        # be filled, or arms still to be rejected.
        size = int(self.undecided.sum()) - self.places if self.mirrored else self.places
        if arms.size > 4 * size:
            front, back = 0, arms.size // 4
        else:
            values = means[order] * (-1 if self.mirrored else 1)
            front, back = peel(values, size, math.ceil(arms.size / 4))
        self._part(order[:front], order[order.size - back :])
        self._settle_the_rest()

    def _part(self, sought: Counts, others: Counts) -> None:
        good, bad = Verdict.ACCEPTED, Verdict.REJECTED
        if self.mirrored:
            good, bad = bad, good
        self._decide_all(sought, good, f"by the largest gap of round {self.round}")
        self._decide_all(others, bad, f"in the quarter that left in round {self.round}")

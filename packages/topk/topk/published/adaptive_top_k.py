"""AdaptiveTopK: rounds of doubling accuracy that accept and reject as they go.

Chen, Chen, Zhang, Zhou: Adaptive multiple-arm identification, ICML 2017, Algorithm 1.
Comments give its line numbers.
"""

import math
from typing import Any, ClassVar

import numpy as np

from topk.best_sets import rank_arms
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.problem import Problem, ProblemError
from topk.selector import Counts, Floats, Selector
from topk.state import State, Verdict

from .rounds import RoundSelector

ZETA_2 = math.pi**2 / 6

CUMULATIVE = Option(
    "cumulative",
    False,
    "Use all answers in every round, not only fresh ones; the guarantee stays (our proof).",
    "flag",
)
HALF = Option(
    "half",
    False,
    "Halve each round by a union bound that wastes nothing; the guarantee stays (our proof).",
    "flag",
)
C_ROUND = Option(
    "c_round",
    1.0,
    "What each round's answers are multiplied by; below 1 there is no guarantee.",
    above=0,
    most=100,
)


class AdaptiveTopK(RoundSelector):
    """Rounds in which every undecided arm gets ``round_pulls(r)`` fresh pulls."""

    name = "adaptive-top-k"
    title = "AdaptiveTopK"
    guarantee = Guarantee(
        Goal.AGGREGATE, "confidence", "Chen, Chen, Zhang, Zhou 2017, Theorems 1 and 4"
    )
    known_options: ClassVar[tuple[Option, ...]] = (CUMULATIVE, HALF, C_ROUND)

    def __init__(self, problem: Problem, state: State | None = None, **options: Any) -> None:
        super().__init__(problem, state, **options)
        if self.guarantee.fixed == "confidence" and self.options.get("c_round", 1.0) < 1:
            note = "shortened rounds are not covered by the proof"
            self.guarantee = Guarantee(Goal.NONE, "confidence", self.guarantee.citation, note=note)

    def round_pulls(self, r: int) -> int:
        """Compute N_r = ceil(2^2r ln(2 n r^2 / delta)), line 4.

        With the option cumulative it is a worker's number of pulls in all rounds so far.
        """
        n, delta = self.problem.n, self.problem.delta
        if self.options["half"]:
            pulls = 4.0**r / 2 * math.log(2 * ZETA_2 * n * r * r / delta)
        else:
            pulls = 4.0**r * math.log(2 * n * r * r / delta)
        return math.ceil(float(self.options["c_round"]) * pulls)

    @property
    def fresh(self) -> bool:  # type: ignore[override]
        """True if a round's means are of its own pulls only."""
        return not self.options.get("cumulative")

    def _target(self) -> Counts:
        pulls = self.round_pulls(self.round)
        if not self.fresh and self.round > 1:
            pulls -= self.round_pulls(self.round - 1)
        return np.full(self.problem.n, pulls)

    @property
    def _accuracy(self) -> float:
        """The regret that the outer loop has to reach."""
        return self.problem.epsilon

    def _advance(self) -> None:
        """Stop at once if ε was relaxed to the regret that the last round left."""
        if self.undecided.any() and self.state.memory["gap"] <= self._accuracy:
            self._take_the_best(f"as the guarantee holds since round {self.round - 1}")
        super()._advance()

    def _close(self) -> None:
        self._eliminate(2 * 2.0**-self.round)
        regret_left = 2 * 2.0**-self.round * self.places / self.problem.k
        self.state.memory["gap"] = min(1.0, regret_left)
        if regret_left <= self._accuracy:  # line 2
            self._take_the_best(f"when the guarantee held after round {self.round}")

    def _eliminate(self, threshold: float) -> None:
        """Do lines 5 to 15 at once: a and b stay the same arms while arms leave on either side."""
        arms, k = np.flatnonzero(self.undecided), self.places
        means = self.state.memory["means"][arms]
        order = rank_arms(means)
        # (m,) lead over the (k+1)-th mean, m_a, and lag behind the k-th, m_b; infinite if no arm is
        # outside, or no place is left.
        above = means - (means[order[k]] if k < arms.size else -np.inf)  # m_x - m_a
        below = (means[order[k - 1]] if k > 0 else np.inf) - means  # m_b - m_x
        reason = f"more than {threshold:g}, in round {self.round}"
        for i in np.flatnonzero(above > threshold):
            lead = f"{above[i]:.3f} above the best one outside" if k < arms.size else "unrivalled"
            self._decide(arms[i], Verdict.ACCEPTED, f"mean {means[i]:.3f}, {lead}, {reason}")
        for i in np.flatnonzero((below > threshold) & ~(above > threshold)):
            lag = f"{below[i]:.3f} below the last one inside" if k > 0 else "no place is left"
            self._decide(arms[i], Verdict.REJECTED, f"mean {means[i]:.3f}, {lag}, {reason}")

    def _score(self) -> Floats:
        """Take the means of the last completed round, line 16; before the first, of all pulls."""
        closed = bool(self.state.memory["rounds"].any())
        means: Floats = self.state.memory["means"]
        return means if closed else super()._score()

    def _interval(self) -> tuple[Floats, Floats]:
        """Bound the means by -+ 2^-r, which hold on the event of the proof (Claim 1)."""
        memory = self.state.memory
        radius = 2.0 ** -memory["rounds"]
        return memory["means"] - radius, memory["means"] + radius

    def shortfall(self, arms: Counts) -> float:
        """Bound the regret of these arms on the event of the proof.

        On that event all decided arms are decided correctly, and only undecided ones may be
        swapped.
        """
        sure = 4.0 * self.state.verdict
        lower, upper = (np.where(self.undecided, bound, sure) for bound in self._interval())
        return self.worst_swap(arms, lower, upper)


class AdaptiveTopKBudget(AdaptiveTopK):
    """AdaptiveTopK without the outer loop, until the budget is spent.

    The paper does not say how to finish a round that the budget cuts short. Our choice: its pulls
    are spread evenly, and the undecided arms are ranked by the means of all their pulls.
    """

    name = "adaptive-top-k-budget"
    title = "AdaptiveTopK, fixed budget"
    guarantee = Guarantee(
        Goal.AGGREGATE, "budget", "Chen, Chen, Zhang, Zhou 2017, experiments; no theorem"
    )
    needs = ("delta", "budget")

    @property
    def _accuracy(self) -> float:
        return -1.0

    def _close(self) -> None:
        super()._close()
        self._settle_the_rest()

    def _score(self) -> Floats:
        return np.nan_to_num(self.means, nan=-1)


class ImprovedTopK(AdaptiveTopK):
    """Our algorithm in the spirit of the paper's Theorem 2, whose own algorithm we do not have.

    A few arms may be misjudged, as many as cost K epsilon / 4: the failure of one arm in one round
    is eta_r = (6/pi^2) delta epsilon K / (16 n r^2), and by Markov's inequality at most epsilon K /
    16 arms fail with probability 1 - delta. The logarithm has n / (K epsilon delta) in place of n /
    delta. The outer loop stops at epsilon / 2.
    """

    name = "improved-top-k"
    title = "Misclassification-budget TopK"
    guarantee = Guarantee(
        Goal.AGGREGATE,
        "confidence",
        "Ours, in the spirit of Chen, Chen, Zhang, Zhou 2017, Theorem 2; "
        "not the paper's ImprovedTopK",
    )
    epsilon_moves = False  # it sets the length of every round
    known_options: ClassVar[tuple[Option, ...]] = ()

    def _check(self) -> None:
        if not self.problem.epsilon > 0:
            raise ProblemError(f"{self.title} needs an epsilon above 0.")

    def round_pulls(self, r: int) -> int:
        """Compute N_r = ceil(2^2r / 2 ln(2 / eta_r))."""
        n, k = self.problem.n, self.problem.k
        eta = self.problem.delta * self.problem.epsilon * k / (ZETA_2 * 16 * n * r * r)
        return math.ceil(4.0**r / 2 * math.log(2 / eta))

    @property
    def _accuracy(self) -> float:
        return self.problem.epsilon / 2

    def shortfall(self, arms: Counts) -> float:
        """Return 1 for every other set: a few bounds may be broken here, so they prove nothing
        about it.
        """
        return Selector.shortfall(self, arms)

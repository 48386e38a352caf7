"""KL-LUCB and KL-Racing: bounds for Bernoulli rewards by their divergence, narrow near 0 and 1.

Kaufmann, Kalyanakrishnan: Information complexity in bandit subset selection, COLT 2013.
"""

import math

import numpy as np

from topk.best_sets import rank_arms
from topk.guarantee import Goal, Guarantee
from topk.selector import Counts, Floats
from topk.state import Verdict

from . import bounds, kernels
from .kernels import Strategy
from .rounds import RoundSelector
from .sequential import SequentialSelector, strategy_for


class KLLUCB(SequentialSelector):
    """LUCB1 with bounds T d(m, q) <= z + ln z, z = ln(k1 n t^1.1 / delta), k1 = 405.5."""

    name = "kl-lucb"
    title = "KL-LUCB"
    guarantee = Guarantee(Goal.EXPLORE_K, "confidence", "Kaufmann, Kalyanakrishnan 2013")

    def _strategy(self) -> Strategy:
        constant = math.log(405.5 * self.problem.n / self.problem.delta)
        return strategy_for(
            self.problem,
            kernels.KL,
            kernels.DIVERGENCE,
            log_constant=constant,
            log_power=1.1,
            tick=2,
        )

    def _bounds(self) -> tuple[Floats, Floats]:
        arms, memo, _ = self._judgement()
        z = float(kernels.log_term(self.strategy, arms, memo))
        return bounds.kl_interval(arms[kernels.MEAN], self.state.pulls, z + math.log(z))


class KLRacing(RoundSelector):
    """Rounds of one pull of every arm in the race; after each, at most one arm leaves."""

    name = "kl-racing"
    title = "KL-Racing"
    epsilon_moves = False  # it decides which arm leaves the race, and when
    guarantee = Guarantee(Goal.EXPLORE_K, "confidence", "Kaufmann, Kalyanakrishnan 2013")

    def _target(self) -> Counts:
        return self.undecided.astype(np.int64)

    def _interval(self) -> tuple[Floats, Floats]:
        # ln(k1 n t^1.1 / delta), k1 = 11.1 > 1 + 1 / 0.1
        level = math.log(11.1 * self.problem.n * self.round**1.1 / self.problem.delta)
        means = np.nan_to_num(self.means, nan=0.5)
        return bounds.kl_interval(means, self.state.pulls, level)

    def _close(self) -> None:
        lower, upper = self._interval()
        arms, k = np.flatnonzero(self.undecided), self.places
        order = arms[rank_arms(self.means[arms])]
        inside, outside = order[:k], order[k:]
        # C1, C2: the best (worst) arm is surely among (outside) the k best, up to epsilon.
        above = lower[order[0]] - upper[outside].max()
        below = lower[inside].min() - upper[order[-1]]
        if max(above, below) > -self.problem.epsilon:
            self._leave(order, inside, outside, lower, upper)
        if self.places == 0:
            self._decide_all(self.undecided, Verdict.REJECTED, "every place is taken")
        elif self.places == self.undecided.sum():
            self._decide_all(self.undecided, Verdict.ACCEPTED, "as many are left as places")

    def _leave(
        self, order: Counts, inside: Counts, outside: Counts, lower: Floats, upper: Floats
    ) -> None:
        """Decide the best or the worst arm, whichever is farther from its rival."""
        rival_above = outside[upper[outside].argmax()]
        rival_below = inside[lower[inside].argmin()]
        best, worst = order[0], order[-1]
        ahead = upper[rival_above] - lower[best] < self.problem.epsilon  # C1
        behind = upper[worst] - lower[rival_below] < self.problem.epsilon  # C2
        lead = self.means[best] - self.means[rival_above]
        lag = self.means[rival_below] - self.means[worst]
        if ahead and (not behind or lead >= lag):
            why = f"lower bound {lower[best]:.3f} against {upper[rival_above]:.3f} outside"
            self._decide(best, Verdict.ACCEPTED, why)
        else:
            why = f"upper bound {upper[worst]:.3f} against {lower[rival_below]:.3f} inside"
            self._decide(worst, Verdict.REJECTED, why)

"""Pair-LUCB, our exact rule: compare every selected arm with every other one by both their answers.

Let M_i(p) be the likelihood of arm i's answers, averaged over a uniform accuracy, over their
likelihood at p. At the true accuracy it is a martingale that begins at 1 (Robbins 1970), for
rewards in [0, 1] a supermartingale: (q/p)^x ((1-q)/(1-p))^(1-x) is convex in x, and so has a mean
of at most 1. By Ville's inequality U_i = 1 / sup M_i, over all prefixes of the arm's rewards, is
stochastically at least uniform. Arms are independent, so that for two of them

    P(U_i U_j <= e^-x) <= e^-x (1 + x),

whatever rule chooses the arms, and however long rewards take and whatever that depends on. The
product of two arms' M alone is a supermartingale only if all rewards are told at once.

There are K (n - K) pairs of an arm i among the K best and one j that is not: with probability
1 - delta no product of such a pair ever reaches e^x, if e^-x (1 + x) = delta / (K (n - K)). The
rule stops when, for every selected arm j and every other i, the product reaches it at *all*
accuracies p_i >= p_j. If the selection were wrong, one of these pairs would be of the kind above,
with its true accuracies among them. The least product is at the common mean of both arms' rewards,
because j's mean is the greater one.

It pulls as KL-LUCB does, at half the threshold plus (ln t) / 2: bounds that widen forget no arm.
Once this pair is decided, it pulls the pair for which most is lacking.
"""

import math

import scipy

from topk.best_sets import kth_rival_values
from topk.guarantee import Goal, Guarantee
from topk.selector import Floats, Selector

from . import bounds, kernels
from .kernels import Strategy
from .sequential import SequentialSelector, strategy_for


class PairLUCB(SequentialSelector):
    """LUCB that stops by a likelihood ratio of each pair."""

    name = "pair-lucb"
    title = "Pair-LUCB"
    guarantee = Guarantee(
        Goal.EXACT,
        "confidence",
        "Ours, by the mixtures of Robbins 1970; sampling of Kaufmann, Kalyanakrishnan 2013",
        early=Goal.EXPLORE_K,
    )
    needs = ("delta",)
    covers_leavers = False
    interval = Selector.interval  # levels are by rank

    def _threshold(self) -> float:
        """Solve e^-x (1 + x) = delta / (K (n - K)) for x."""
        n, k = self.problem.n, self.problem.k
        rate = self.problem.delta / (k * (n - k))
        return float(-scipy.special.lambertw(-rate / math.e, -1).real) - 1

    def _strategy(self) -> Strategy:
        return strategy_for(
            self.problem,
            kernels.PAIRS,
            kernels.MIXTURE,
            slack=0.0,
            strict=False,
            log_constant=self._threshold() / 2,
            log_power=0.5,
            log_inner=self._threshold(),
            tick=2,
        )

    def _gap(self) -> float:
        return 0.0 if self._is_done() else self.shortfall(self.selection())

    def _bounds(self) -> tuple[Floats, Floats]:
        """Bound every arm, validly if no pair's product reaches the threshold.

        Then ln M_i(p_i) is below the threshold less ln M_j(p_j), which is least at j's own mean.
        """
        arms = self._judgement()[0]
        cost = kernels.mixture_costs(arms)
        level = self._threshold() + cost + kth_rival_values(cost, 1)
        return bounds.kl_interval(arms[kernels.MEAN], self.state.pulls, level)

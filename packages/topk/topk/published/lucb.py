"""LUCB1: pull the weakest of the best k and the strongest of the rest until they part.

Kalyanakrishnan, Tewari, Auer, Stone: PAC subset selection in stochastic multi-armed bandits, ICML
2012, section 3.
"""

import math

from topk.guarantee import Goal, Guarantee

from . import kernels
from .kernels import Strategy
from .sequential import SequentialSelector, strategy_for


class LUCB(SequentialSelector):
    """beta(u, t) = sqrt(ln(k1 n t^4 / delta) / (2u)), k1 = 5/4; t is the round of two pulls."""

    name = "lucb"
    title = "LUCB1"
    guarantee = Guarantee(
        Goal.EXPLORE_K, "confidence", "Kalyanakrishnan, Tewari, Auer, Stone 2012, Theorem 1"
    )

    def _strategy(self) -> Strategy:
        constant = math.log(1.25 * self.problem.n / self.problem.delta)
        return strategy_for(
            self.problem,
            kernels.PAIR,
            kernels.CLOCK,
            log_constant=constant,
            log_power=4.0,
            tick=2,
        )

"""LUCB1: pull the weakest of the best k and the strongest of the rest until they part.

Kalyanakrishnan, Tewari, Auer, Stone: PAC subset selection in stochastic multi-armed bandits, ICML
2012, section 3.
"""

import numpy as np
from numpy.typing import NDArray

from .bounds import hoeffding, lucb_log
from .oracles import top
from .promise import Goal, Promise
from .selector import Counts, Floats
from .sequential import SequentialSelector


class LUCB(SequentialSelector):
    name = "lucb"
    title = "LUCB1"
    promise = Promise(
        Goal.EXPLORE_K, "confidence", "Kalyanakrishnan, Tewari, Auer, Stone 2012, Theorem 1"
    )

    def _radius(self, pulls: Counts) -> Floats:
        """beta(u, t). t is the paper's round of two pulls, and never less than any arm's pulls.

        In the paper's own sampling the two are the same; under batches the second keeps u <= t,
        which the proof's union bound needs.
        """
        rounds = 1 + (int(pulls.sum()) - self.problem.n + 1) // 2
        t = max(rounds, int(pulls.max()), 1)
        return hoeffding(pulls, lucb_log(self.problem.n, t, self.problem.delta))

    def _threats(self, pulls: Counts, means: Floats, open_: NDArray[np.bool_]) -> Counts:
        """h, the least lower bound of High, and l, the greatest upper bound of Low."""
        radius, high = self._radius(pulls), self._high(means)
        lower = np.where(high & open_, means - radius, np.inf)
        upper = np.where(~high & open_, means + radius, -np.inf)
        pair = np.array([lower.argmin(), upper.argmax()])
        return pair[[lower.min() < np.inf, upper.max() > -np.inf]]

    def _high(self, means: Floats) -> NDArray[np.bool_]:
        high = np.zeros(self.problem.n, bool)
        high[top(means, self.problem.k)] = True
        return high

    def _gap(self) -> float:
        """U_l - L_h, which bounds the explore-K regret of High at any time."""
        radius, high = self._radius(self.state.pulls), self._high(self.means)
        return float((self.means + radius)[~high].max() - (self.means - radius)[high].min())

    def selection(self) -> Counts:
        return top(self.means, self.problem.k)

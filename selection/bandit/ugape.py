"""UGapEc: bound every arm's gap, and pull the wider of the two arms that hold the gap open.

Gabillon, Ghavamzadeh, Lazaric: Best arm identification: a unified approach to fixed budget and
fixed confidence, NIPS 2012, Figure 1 and section 3.
"""

import numpy as np
from numpy.typing import NDArray

from .bounds import hoeffding, ugape_log
from .oracles import rivals, top
from .promise import Goal, Promise
from .selector import Counts, Floats
from .sequential import SequentialSelector


class UGapEc(SequentialSelector):
    name = "ugape-c"
    title = "UGapEc"
    promise = Promise(
        Goal.EXPLORE_K, "confidence", "Gabillon, Ghavamzadeh, Lazaric 2012, Theorem 2"
    )

    def _radius(self, pulls: Counts) -> Floats:
        """b sqrt(c ln(4 n (t-1)^3 / delta) / T), with b = 1 and c = 1/2."""
        pulled = max(int(pulls.sum()), 1)
        return hoeffding(pulls, ugape_log(self.problem.n, pulled, self.problem.delta))

    def _regret_bounds(self, means: Floats, radius: Floats) -> Floats:
        """B_k: the K-th largest upper bound among the other arms, less the arm's lower bound."""
        return rivals(means + radius, self.problem.k) - (means - radius)

    def _best(self, means: Floats, radius: Floats) -> Counts:
        """J: the K arms of least B."""
        return top(-self._regret_bounds(means, radius), self.problem.k)

    def _threats(self, pulls: Counts, means: Floats, open_: NDArray[np.bool_]) -> Counts:
        radius = self._radius(pulls)
        chosen = np.zeros(self.problem.n, bool)
        chosen[self._best(means, radius)] = True
        upper = np.where(~chosen & open_, means + radius, -np.inf)
        lower = np.where(chosen & open_, means - radius, np.inf)
        pair = [int(np.lexsort((pulls, -upper))[0]), int(np.lexsort((pulls, lower))[0])]
        arms = [arm for arm in pair if open_[arm]]
        return np.array([max(arms, key=lambda arm: radius[arm])] if arms else [], np.int64)

    def _gap(self) -> float:
        """B_J, the largest B in J."""
        radius = self._radius(self.state.pulls)
        bounds = self._regret_bounds(self.means, radius)
        return float(np.sort(bounds)[self.problem.k - 1])

    def selection(self) -> Counts:
        means = np.nan_to_num(self.means, nan=0.5)
        if not self.state.pulls.all():
            return top(means, self.problem.k)
        return self._best(means, self._radius(self.state.pulls))

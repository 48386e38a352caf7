"""The states of one worker for which a table has prices: docs/certified.md, section 4.

(m, S) is S right among m answers. Up to a horizon of WHOLE there is a price for each of them. On a
longer one only within BAND deviations of the threshold: states beyond count as those at the edge.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .designs import BAND, WHOLE, Counts, threshold_accuracy


@dataclass(frozen=True)
class States:
    """States stored row after row, 0 <= m <= horizon, low[m] <= S <= high[m] <= m.

    low, high  int64 (h + 1,); neither falls, nor rises by more than 1 from row to row
    start      int64 (h + 2,) beginning of each row
    whole      True if every state is there
    """

    low: Counts
    high: Counts
    start: Counts
    whole: bool

    def place(self, pulls: Counts, right: Counts) -> Counts:
        """Return (n,) the places of the states' prices."""
        if self.whole:
            return pulls * (pulls + 1) // 2 + right
        low = self.low[pulls]
        return np.asarray(self.start[pulls] + np.clip(right, low, self.high[pulls]) - low)

    def pairs(self) -> tuple[Counts, Counts]:
        """Return m and S of every state, in the order in which they are stored."""
        m = np.repeat(np.arange(self.low.size), np.diff(self.start))
        return m, np.arange(m.size) - self.start[m] + self.low[m]


@cache
def design_states(horizon: int, number: int, questions: int) -> States:
    """Return the states of this threshold; ``questions`` is 0 unless accuracy means a set."""
    m = np.arange(horizon + 1)
    low, high, whole = np.zeros_like(m), m, horizon <= WHOLE or questions > 0
    if not whole:
        c = threshold_accuracy(horizon, number)
        apart = BAND * np.sqrt(m * c * (1 - c))
        low = np.maximum(np.floor(c * m - apart), 0).astype(np.int64)
        high = np.minimum(np.ceil(c * m + apart), m).astype(np.int64)
        low, high = _steps_of_one(low), m - _steps_of_one(m - high)
    start = np.concatenate([[0], np.cumsum(high - low + 1)])
    return States(low, high, start, whole)


def _steps_of_one(edge: NDArray[np.int64]) -> Counts:
    """Return the largest edge at or below this one that never falls and rises by at most 1."""
    never_falls = np.minimum.accumulate(edge[::-1])[::-1]
    m = np.arange(edge.size)
    return np.asarray(np.minimum.accumulate(never_falls - m) + m)

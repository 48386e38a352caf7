"""Sharing out a number of pulls."""

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def fill_level(need: Counts, slots: int) -> Counts:
    """Give at most ``slots`` pulls, the neediest arms first, so that the remaining needs are even.

    need  int64 (n,), pulls each arm lacks, at least 0
    """
    if slots >= need.sum():
        return need
    line = _water_line(need, slots)
    pulls = np.maximum(need - line, 0)  # all above the line; the spare goes one each
    spare = slots - int(pulls.sum())
    pulls[np.flatnonzero(need >= line)[:spare]] += 1
    return pulls


def _water_line(need: Counts, slots: int) -> int:
    """Return the least level of remaining need that costs no more than ``slots``."""
    low, high = 0, int(need.max())
    while low < high:
        middle = (low + high) // 2
        if np.maximum(need - middle, 0).sum() > slots:
            low = middle + 1
        else:
            high = middle
    return low

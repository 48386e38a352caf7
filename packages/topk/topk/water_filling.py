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
    # Whatever m, the m neediest must be left with so little that only the slots are given to them.
    most = np.sort(need)[::-1].cumsum()
    line = (-((slots - most) // np.arange(1, most.size + 1))).max()
    pulls: Counts = np.maximum(need - line, 0)  # all above the line; the spare goes one each
    spare = slots - int(pulls.sum())
    pulls[np.flatnonzero(need >= line)[:spare]] += 1
    return pulls

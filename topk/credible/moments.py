"""Where the border lies; compiled.

Cells are of accuracies, lowest first; w (R, M) are the cells of populations.
"""

import numpy as np
from numba import njit

compiled = njit(cache=True, error_model="numpy")


@compiled
def reached_from_above(w, expected, wanted):  # type: ignore[no-untyped-def]
    """(R,) the highest cell from which on w x expected, (R, M), sum up to what is wanted."""
    last = w.shape[1] - 1
    result = np.full(w.shape[0], last)
    for r in range(w.shape[0]):
        total = 0.0
        for m in range(last, -1, -1):
            total += w[r, m] * expected[r, m]
            if total >= wanted:
                result[r] = m
                break
    return result

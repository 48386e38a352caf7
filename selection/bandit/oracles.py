"""Which set is best for given values."""

import numpy as np
from numpy.typing import NDArray


def top(values: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """The k arms of largest value, in rising order of number; nan counts as least."""
    return np.sort(ranking(values)[:k])


def ranking(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) arms from the largest value to the smallest, ties in order of number; nan is last."""
    return np.argsort(-values, kind="stable")


def rivals(values: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """(n,) for each arm the k-th largest value among the others (UGapE, section 3).

    Needs 1 <= k < n.
    """
    order = ranking(values)
    kth, next_one = values[order[k - 1]], values[order[k]]
    rival = np.full(values.shape, kth)
    rival[order[:k]] = next_one
    return rival

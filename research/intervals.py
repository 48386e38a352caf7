"""Confidence intervals of 99 %.

Two intervals of 99 % are disjoint in a given order with probability about 0.0002 if what they
estimate is equal.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, stdtrit

LEVEL = 0.99


def share_interval(successes: int, runs: int) -> tuple[float, float]:
    """Return the exact binomial interval of Clopper and Pearson; (0, 1) without runs."""
    tail = (1 - LEVEL) / 2
    low = betaincinv(successes, runs - successes + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, runs - successes, 1 - tail) if successes < runs else 1.0
    return float(low), float(high)


def mean_interval(values: ArrayLike) -> tuple[float, float, float, float]:
    """Return mean, standard error and Student's interval, infinite for fewer than two values."""
    sample = np.asarray(values, float)
    if sample.size < 2:
        mean = float(sample.mean()) if sample.size else math.nan
        return mean, math.nan, -math.inf, math.inf
    mean, error = float(sample.mean()), float(sample.std(ddof=1) / math.sqrt(sample.size))
    reach = error * float(stdtrit(sample.size - 1, (1 + LEVEL) / 2))
    return mean, error, mean - reach, mean + reach

"""Confidence radii for rewards in [0, 1]. Each takes pulls (n,) and gives radii (n,).

The half inside each root is Hoeffding's: a reward in [0, 1] is 1/2-sub-Gaussian. An arm without a
pull has an infinite radius.
"""

import math

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def hoeffding(pulls: Counts, log_term: float) -> Floats:
    """sqrt(log_term / (2 pulls)): a mean strays this far on one side with probability e^-log_term.

    Hoeffding, Probability inequalities for sums of bounded random variables (1963), theorem 2.
    """
    with np.errstate(divide="ignore"):
        return np.sqrt(log_term / (2 * pulls))


def lucb_log(n: int, t: int, delta: float) -> float:
    """ln(k1 n t^4 / delta), k1 = 5/4 (Kalyanakrishnan et al. 2012, section 3.1)."""
    return math.log(1.25 * n * t**4 / delta)


def ugape_log(n: int, pulled: int, delta: float) -> float:
    """ln(4 n (t-1)^3 / delta) after ``pulled`` = t - 1 pulls (Gabillon et al. 2012, section 3)."""
    return math.log(4 * n * pulled**3 / delta)

"""Confidence bounds for rewards in [0, 1] that are used outside the compiled kernels."""

import math

import numpy as np
from numpy.typing import NDArray

from . import kernels

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def lil_failure(growth: float) -> float:
    """Compute c_e = ((2+e)/e) (1/ln(1+e))^(1+e) (Jiang et al. 2017, Lemma 2.1)."""
    return (2 + growth) / growth * math.pow(math.log1p(growth), -(1 + growth))


def kl_interval(means: Floats, pulls: Counts, level: float | Floats) -> tuple[Floats, Floats]:
    """Find the least and the greatest q with T d(mean, q) <= level, to rounding; 0, 1 without a
    pull.

    Valid for any rewards in [0, 1] of that mean.
    """
    levels = level / np.maximum(pulls, 1)
    lower = kernels.kl_bounds(means, levels, -1)
    upper = kernels.kl_bounds(means, levels, 1)
    return np.where(pulls > 0, lower, 0.0), np.where(pulls > 0, upper, 1.0)

"""Rewards drawn from arms whose means are known."""

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def draw_rewards(means: Floats, pulls: Counts, gaussian: bool, rng: np.random.Generator) -> Floats:
    """Return sums of rewards: 0 or 1, or Gaussian of variance 1/4.

    If no arm has more than one pull, each takes one uniform number.
    """
    if gaussian:
        return means * pulls + 0.5 * np.sqrt(pulls) * rng.standard_normal(means.size)
    if pulls.max(initial=0) <= 1:
        return (rng.random(means.size) < means).astype(np.float64)
    return rng.binomial(pulls, means).astype(np.float64)

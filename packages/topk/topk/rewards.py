"""Rewards drawn from arms with known means."""

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def draw_rewards(
    means: Floats,
    pulls: Counts,
    gaussian: bool,
    rng: np.random.Generator,
    concentration: float | None = None,
) -> Floats:
    """Draw sums of rewards: 0 or 1, or Gaussian of variance 1/4, or scores.

    concentration  the sum of the two parameters of the Beta distributions of scores

    If no arm has more than one pull, each takes one uniform number.
    """
    if gaussian:
        return means * pulls + 0.5 * np.sqrt(pulls) * rng.standard_normal(means.size)
    if concentration is not None:
        arms = np.repeat(np.arange(means.size), pulls)
        alpha, beta = concentration * means[arms], concentration * (1 - means[arms])
        return np.bincount(arms, rng.beta(alpha, beta), means.size).astype(np.float64)
    if pulls.max(initial=0) <= 1:
        return (rng.random(means.size) < means).astype(np.float64)
    return rng.binomial(pulls, means).astype(np.float64)

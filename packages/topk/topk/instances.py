"""The test instances of the papers: means of all arms, best first.

A simulation has to number the arms at random; the order leaks the answer.

Bubeck, Wang, Viswanathan 2013 (``SAR_EXPERIMENTS``; the settings are those of Audibert, Bubeck,
Munos 2010, because the paper gives titles only, and so are the budgets, its own being illegible)
and Chen, Chen, Zhang, Zhou 2017 (n = 1000).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Experiment:
    """An experiment of Bubeck et al. 2013; ``budget`` is of Audibert et al. 2010, for one arm."""

    title: str
    means: tuple[float, ...]
    budget: int


def _sorted_means(*means: float) -> tuple[float, ...]:
    return tuple(sorted(means, reverse=True))


SAR_EXPERIMENTS: dict[int, Experiment] = {
    1: Experiment("One group of bad arms", _sorted_means(0.5, *[0.4] * 19), 2000),
    2: Experiment("Two groups of bad arms", _sorted_means(0.5, *[0.42] * 5, *[0.38] * 14), 2000),
    3: Experiment(
        "Geometric progression", _sorted_means(0.5, *(0.5 - 0.37**i for i in (2, 3, 4))), 2000
    ),
    4: Experiment(
        "Six arms in three groups of bad ones", _sorted_means(0.5, 0.42, 0.4, 0.4, 0.35, 0.35), 600
    ),
    5: Experiment(
        "Arithmetic progression", _sorted_means(0.5, *(0.5 - 0.025 * i for i in range(2, 16))), 4000
    ),
    6: Experiment(
        "Three groups of bad arms",
        _sorted_means(0.5, *[0.45] * 5, *[0.43] * 14, *[0.38] * 10),
        6000,
    ),
}


def two_group(n: int, k: int) -> Floats:
    """Return .7 for the best k, .3 for the rest (Chen et al. 2017)."""
    return np.where(np.arange(n) < k, 0.7, 0.3)


def uniform(n: int) -> Floats:
    """Return 1 - i/n, i = 1..n (Chen et al. 2017)."""
    return 1 - np.arange(1, n + 1) / n


def synthetic(n: int, k: int, p: float) -> Floats:
    """Spread means above and below (n-k)/n as powers of the rank (Chen et al. 2017).

    p = 1 is ``uniform``; p > 1 draws means to the border, p < 1 away from it. Jiang et al. 2017
    call it alpha-exponential.
    """
    i = np.arange(1, n + 1)
    border = 1 - k / n
    above = border + k / n * np.clip(1 - i / k, 0, 1) ** p
    below = border - border * np.clip((i - k) / (n - k), 0, 1) ** p
    return np.where(i <= k, above, below)

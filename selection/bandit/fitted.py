"""The population that was fitted to a crowd, in numbers that can be shown to a person."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from .posterior import Posterior

BINS = 25


@dataclass(frozen=True)
class Fitted:
    """Averaged over the populations that the answers leave possible.

    mean, spread  mean and standard deviation of the workers' accuracies
    border        the accuracy that K of the workers are expected to exceed
    shares        of the workers, by accuracy, in BINS steps of equal width from 0 to 1
    p_value       of the check whether one bell of workers explains the answers
    """

    mean: float
    spread: float
    border: float
    shares: tuple[float, ...]
    p_value: float

    @classmethod
    def of(cls, posterior: Posterior, border: float, p_value: float) -> "Fitted":
        grid, draws = posterior.grid, posterior.draws
        cells = draws.weight @ draws.w
        mean = float(cells @ grid.theta)
        variance = float(cells @ grid.theta**2) - mean**2
        below = np.interp(np.linspace(0, 1, BINS + 1), grid.edges, np.r_[0, np.cumsum(cells)])
        return cls(
            mean=mean,
            spread=sqrt(max(variance, 0.0)),
            border=border,
            shares=tuple(np.diff(below).tolist()),
            p_value=p_value,
        )

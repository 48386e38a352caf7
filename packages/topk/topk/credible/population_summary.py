"""The fitted population in numbers for display."""

from math import sqrt

import numpy as np

from topk.population_summary import PopulationSummary

from .posterior import Posterior

STEPS = 25  # of accuracy, in which the shares are given


def summarise_population(posterior: Posterior, p_value: float) -> PopulationSummary:
    """Compute the average of the populations that the answers leave possible."""
    grid, draws = posterior.grid, posterior.draws
    cells = draws.weight @ draws.w
    mean = float(cells @ grid.theta)
    variance = float(cells @ grid.theta**2) - mean**2
    below = np.interp(np.linspace(0, 1, STEPS + 1), grid.edges, np.r_[0, np.cumsum(cells)])
    return PopulationSummary(
        mean=mean,
        spread=sqrt(max(variance, 0.0)),
        border=posterior.average.border,
        shares=tuple(np.diff(below).tolist()),
        p_value=p_value,
    )

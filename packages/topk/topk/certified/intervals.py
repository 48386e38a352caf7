"""The worst swap that intervals of single workers allow: docs/certified.md, section 5."""

import math

import numpy as np

from topk.best_sets import Quotas
from topk.problem import Problem

from .tally import Chosen, Floats

FOR_INTERVALS = 0.1  # part of delta


def side_levels(problem: Problem) -> tuple[float, float]:
    """Return the levels of lower bounds, which hold for workers not among the best, and of upper
    ones.

    Delta is shared in proportion to the workers that each serves: an upper bound serves workers
    that are not chosen (5.2).
    """
    n, k, delta = problem.n, problem.k, problem.delta * FOR_INTERVALS
    return math.log((n - k) * n / (k * delta)), math.log(k * n / ((n - k) * delta))


def worst_within(quotas: Quotas, chosen: Chosen, lower: Floats, upper: Floats) -> float:
    """Return the most a feasible selection gains over this one, given all intervals (5.3)."""
    # The worst accuracies for this selection do not depend on which other one is compared, so that
    # the best selection under them is the worst swap.
    worth = np.where(chosen, lower, upper)
    return float(worth[quotas.best(worth)].sum() - worth[chosen].sum())

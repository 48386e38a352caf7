"""Smooth populations torn apart at the border, which few answers do not tell from whole ones.

Nobody is near the border of a torn population: who would be stands at the nearer end of a gap. A
wrong choice then costs the whole gap, and next to nothing in the whole population. Unlike the
hidden gaps of ``groups``, the groups on both sides may be of any number and shape.
"""

from math import log, sqrt

import numpy as np

from .grid import Floats, Grid
from .groups import Cells

GAPS = (0.14, 0.18, 0.22)  # wider ones show, and narrower ones do little harm
MUCH = 1.5  # times delta that a gap must make of the risk to be warned of
DOUBTFUL = 1.75  # times delta that it must make of it for a run that could end to go on
LONG, VERY_LONG = 0.61, 0.75  # 10 and 12.3 answers a worker at n = 100, k = 20, 5 % and .05
SAID_BY_ODDS = 0.1
TORN_MASS = 0.9  # prior probability of the torn, for who is cautious; the rest is as ever
CAUTIOUS_SHARE = 0.85  # of delta: with 1, 11 of 160 pools of 30 good workers and 70 others broke it

LARGE = 300  # workers from which on every run is cautious: so many leave little to luck


def populations_with_gaps(grid: Grid, w: Floats, borders: Cells) -> Floats:
    """(R, M) these populations (R, M), torn at their borders (R,), the gaps taken in turn."""
    half = np.resize(GAPS, borders.size)[:, None] / 2
    t = grid.edges[borders][:, None]
    inside, above = np.abs(grid.theta - t) < half, grid.theta >= t
    result, each = np.where(inside, 0, w), np.arange(borders.size)
    for end, side in ((t + half, above), (t - half, ~above)):
        cells = np.searchsorted(grid.theta, end[:, 0]).clip(max=grid.theta.size - 1)
        result[each, cells] += np.where(inside & side, w, 0).sum(1)
    return result


def run_length(odds: float, asked: float, n: int, k: int, epsilon: float, delta: float) -> float:
    """How long a run was for its problem; those on bells are shorter than those with a gap.

    odds   how many times as likely the answers are with a gap as without
    asked  answers a worker
    """
    wanted = epsilon**1.25 * n**0.3 / sqrt((1 - k / n) * log(1 / delta))
    return float(asked * wanted * odds**SAID_BY_ODDS)

"""Smooth populations torn apart at the border, which few answers do not tell from whole ones.

In a torn population no worker is near the border: such workers are moved to the nearer end of a
gap. A wrong choice then costs the whole gap, and next to nothing in the whole population. Unlike
the hidden gaps of ``groups``, the groups on both sides may be of any number and shape.
"""

from math import log, sqrt

import numpy as np

from .grid import Floats, Grid
from .groups import Cells

GAPS = (0.14, 0.18, 0.22)  # wider ones show, and narrower ones do little harm
MUCH = 1.5  # a gap that makes the risk more than so many times delta causes a warning
DOUBTFUL = 1.75  # and one that makes it more than so many times delta keeps a run from its end
LONG, VERY_LONG = 0.61, 0.75  # 10 and 12.3 answers a worker at n = 100, k = 20, 5 % and .05
SAID_BY_ODDS = 0.1
TORN_MASS = 0.9  # prior probability of torn populations in a cautious run; the rest is whole
CAUTIOUS_SHARE = 0.85  # of delta: with 1, 11 of 160 pools of 30 good workers and 70 others broke it

LARGE = 300  # with so many workers or more every run is cautious: they leave little to luck


def populations_with_gaps(grid: Grid, w: Floats, borders: Cells) -> Floats:
    """Compute (R, M) these populations, torn at their borders (R,), with the gaps in turn."""
    half = np.resize(GAPS, borders.size)[:, None] / 2
    t = grid.edges[borders][:, None]
    inside, above = np.abs(grid.theta - t) < half, grid.theta >= t
    result, row = np.where(inside, 0, w), np.arange(borders.size)
    for end, side in ((t + half, above), (t - half, ~above)):
        cells = np.searchsorted(grid.theta, end[:, 0]).clip(max=grid.theta.size - 1)
        result[row, cells] += np.where(inside & side, w, 0).sum(1)
    return result


def run_length(odds: float, asked: float, n: int, k: int, epsilon: float, delta: float) -> float:
    """Compute the length of a run relative to its problem; runs on bells are shorter than with a
    gap.

    odds   how many times as likely the answers are with a gap as without
    asked  answers a worker
    """
    expected = epsilon**1.25 * n**0.3 / sqrt((1 - k / n) * log(1 / delta))
    return float(asked * expected * odds**SAID_BY_ODDS)

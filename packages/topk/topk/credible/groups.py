"""Populations of two groups, which few answers a worker cannot tell from a bell.

If just the k best stand apart (*a hidden gap*), a bell through both groups makes a wrong choice
look nearly free. If all are equal, or all but a few, a bell assumes differences between equals
(*ties*). Each kind has a share of the prior; all of its populations are tried against the answers.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from topk.compiled import compiled

from .grid import Floats, Grid

Cells = NDArray[np.int64]

GAPS = (0.1, 0.3)  # smaller gaps do little harm, larger ones do not hide
TIE_SHARES = (0.25, 0.5, 1, 2)  # of the workers in the upper group, in units of k / n
APART = 0.1  # least distance of the groups of a pool with ties
GAP_MASS, EQUAL_MASS, TIE_MASS = 0.18, 0.06, 0.06  # prior probability of each kind
SMOOTH_MASS = 1 - GAP_MASS - EQUAL_MASS - TIE_MASS
FINE, COARSE = 48, 25  # accuracies tried: FINE, and COARSE for ties
LOWEST, HIGHEST = 0.05, 0.985
LEAST_PROBABILITY = 1e-300


@dataclass(frozen=True)
class Groups:
    """Populations of two groups; arrays are (R,).

    upper, lower  the cell of each group
    share         of the workers in the upper group
    log_mass      log of the prior probability
    """

    upper: Cells
    lower: Cells
    share: Floats
    log_mass: Floats

    def fit(self, like: Floats) -> Floats:
        """Compute (R, G) each tally's probability under each of them; ``like`` is (G, M)."""
        result: Floats = _fit_pairs(
            np.ascontiguousarray(like.T), self.upper, self.lower, self.share
        )
        return result

    def log_posterior(self, fit: Floats, workers: Floats) -> Floats:
        """Compute (R,) log posteriors up to a constant, given tallies that so many workers have."""
        result: Floats = self.log_mass + np.log(fit) @ workers
        return result

    def cells(self, rows: Cells, size: int) -> Floats:
        """Compute (rows, size) cell probabilities of some of them."""
        cells, row = np.zeros((rows.size, size)), np.arange(rows.size)
        cells[row, self.upper[rows]] = self.share[rows]
        cells[row, self.lower[rows]] += 1 - self.share[rows]
        return cells


@lru_cache(8)
def two_group_populations(grid: Grid, n: int, k: int) -> Groups:
    """Build all populations considered for a pool of n workers, the k best of which are wanted."""
    fine, coarse = _accuracy_cells(grid, FINE), _accuracy_cells(grid, COARSE)
    gaps = _cell_pairs(grid, fine, *GAPS)
    ties = _cell_pairs(grid, coarse, APART, 1)
    kinds = [(GAP_MASS, gaps, k / n), (EQUAL_MASS, np.stack([fine, fine]), 1.0)]
    shares = [share * k / n for share in TIE_SHARES if 1 <= share * k < n]
    kinds += [(TIE_MASS / len(TIE_SHARES), ties, share) for share in shares]
    upper, lower = np.hstack([pairs for _, pairs, _ in kinds])
    sizes = [pairs.shape[1] for _, pairs, _ in kinds]
    mass = [mass / max(size, 1) for (mass, _, _), size in zip(kinds, sizes, strict=True)]
    share = np.repeat([share for _, _, share in kinds], sizes)
    return Groups(upper, lower, share, np.log(np.repeat(mass, sizes)))


def _accuracy_cells(grid: Grid, number: int) -> Cells:
    """Build about so many cells, evenly spread."""
    phi = np.linspace(np.arcsin(LOWEST**0.5), np.arcsin(HIGHEST**0.5), number)
    result: Cells = np.unique(np.searchsorted(grid.theta, np.sin(phi) ** 2))
    return result


def _cell_pairs(grid: Grid, cells: Cells, least: float, most: float) -> Cells:
    """Compute (2, R) upper and lower of these cells, whose accuracies are so far apart."""
    apart = grid.theta[cells] - grid.theta[cells, None]
    lower, upper = np.nonzero((apart >= least) & (apart <= most))
    return np.stack([cells[upper], cells[lower]])


@compiled
def _fit_pairs(like, upper, lower, share):  # type: ignore[no-untyped-def]
    """Compute (R, G) each tally's probability under each, more than 0; ``like`` is (M, G)."""
    result = np.empty((upper.size, like.shape[1]))
    for r in range(upper.size):
        one, other = like[upper[r]], like[lower[r]]
        for g in range(one.size):
            fit = one[g] * share[r] + other[g] * (1 - share[r])
            result[r, g] = max(fit, LEAST_PROBABILITY)
    return result

"""The cells of accuracy over which all is summed, and the densities that live on them."""

from functools import cached_property, lru_cache
from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FIRST_BEND, LAST_BEND = 3, 8  # lower bends are the Beta's own business
BENDS = LAST_BEND - FIRST_BEND + 1
COARSEST, FINEST = 100, 400
POWERS = (1, 2, 3)

# No number is nan: else the largest could not be found by vector instructions.
compiled = njit(cache=True, error_model="numpy", fastmath={"nnan", "nsz"})


class Grid:
    """Cells of equal width in phi, where a proportion of N answers spreads by 1 / (2 sqrt N)."""

    def __init__(self, cells: int) -> None:
        phi = (np.arange(cells) + 0.5) * np.pi / 2 / cells
        self.edges: Floats = np.sin(np.linspace(0, np.pi / 2, cells + 1)) ** 2
        self.theta: Floats = np.sin(phi) ** 2
        self.log_p: Floats = 2 * np.log(np.sin(phi))
        self.log_q: Floats = 2 * np.log(np.cos(phi))
        self.bends: Floats = np.cos(2 * np.arange(FIRST_BEND, LAST_BEND + 1)[:, None] * phi)
        # The log of a density is linear in (a, b, c): these are its slopes, and what is left.
        self._basis: Floats = np.vstack([self.log_p, self.log_q, self.bends])
        self._flat: Floats = np.log(np.diff(self.edges)) - self.log_p - self.log_q

    def density(self, x: Floats) -> Floats:
        """(R, M) cell probabilities of the populations (R, P)."""
        mean, conc = 1 / (1 + np.exp(-x[:, 0])), np.exp(x[:, 1])
        linear = x.copy()
        linear[:, 0], linear[:, 1] = mean * conc, (1 - mean) * conc
        logs = linear @ self._basis
        _lower(logs, self._flat)
        cells: Floats = np.exp(logs, out=logs)
        cells /= cells.sum(1, keepdims=True)
        return cells

    def slopes(self, x: Floats) -> Floats:
        """(P, M) d log g / d x of one population, up to a constant a row."""
        mean, conc = 1 / (1 + np.exp(-x[0])), np.exp(x[1])
        slopes = self._basis.copy()
        slopes[0] = conc * mean * (1 - mean) * (self.log_p - self.log_q)
        slopes[1] = conc * (mean * self.log_p + (1 - mean) * self.log_q)
        return slopes

    def likelihood(self, right: Floats, answers: Floats) -> Floats:
        """(G, M) of tallies (G,), each row scaled to a largest value of 1."""
        logs = np.outer(right, self.log_p) + np.outer(answers - right, self.log_q)
        logs -= logs.max(1, keepdims=True)
        result: Floats = np.exp(logs, out=logs)
        return result

    @cached_property
    def excess(self) -> Floats:
        """(3, M, M) of each cell's accuracy over each border's: power, border, cell."""
        over = np.maximum(self.theta - self.theta[:, None], 0)
        return np.stack([over**power for power in POWERS])

    @cached_property
    def shortfall(self) -> Floats:
        """(3, M, M) of each cell's accuracy under each border's: power, border, cell."""
        return np.ascontiguousarray(self.excess.transpose(0, 2, 1))


def grid_for(answers: int) -> Grid:
    """Fine enough for workers of fewer than so many answers each."""
    return _grid(min(max(int(4 * sqrt(answers)), COARSEST), FINEST))


_grid = lru_cache(8)(Grid)


@compiled
def _lower(logs, flat):  # type: ignore[no-untyped-def]
    """Add the same (M,) to all rows (R, M), then take its largest from each."""
    for r in range(logs.shape[0]):
        row, most = logs[r], -np.inf
        for m in range(flat.size):
            row[m] += flat[m]
            most = max(most, row[m])
        for m in range(flat.size):
            row[m] -= most

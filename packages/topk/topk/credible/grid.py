"""The cells of accuracy over which integrals are summed, and the densities on them."""

from functools import lru_cache, partial
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from topk.compiled import compiled

Floats = NDArray[np.float64]

FIRST_BEND, LAST_BEND = 3, 8  # the Beta itself covers lower bends
BENDS = LAST_BEND - FIRST_BEND + 1
COARSEST, FINEST = 100, 400

# Row by row, because numpy goes through all rows once for each operation. Sums may be added up in
# any order, and no number is nan: otherwise the compiler could not use vector instructions.
compiled_rows = partial(compiled, fastmath={"reassoc", "nnan", "nsz", "contract"})


class Grid:
    """Cells of equal width in phi, where a proportion of N answers has deviation 1 / (2 sqrt N)."""

    def __init__(self, cells: int) -> None:
        phi = (np.arange(cells) + 0.5) * np.pi / 2 / cells
        self.edges: Floats = np.sin(np.linspace(0, np.pi / 2, cells + 1)) ** 2
        self.theta: Floats = np.sin(phi) ** 2
        self.log_p: Floats = 2 * np.log(np.sin(phi))
        self.log_q: Floats = 2 * np.log(np.cos(phi))
        self.bends: Floats = np.cos(2 * np.arange(FIRST_BEND, LAST_BEND + 1)[:, None] * phi)
        # The log of a density is linear in (a, b, c): these are its slopes, and its constant.
        self.basis: Floats = np.vstack([self.log_p, self.log_q, self.bends])
        self.flat: Floats = np.log(np.diff(self.edges)) - self.log_p - self.log_q

    def density(self, x: Floats) -> Floats:
        """Compute (R, M) cell probabilities of the populations (R, P)."""
        mean, conc = 1 / (1 + np.exp(-x[:, 0])), np.exp(x[:, 1])
        linear = x.copy()
        linear[:, 0], linear[:, 1] = mean * conc, (1 - mean) * conc
        logs = linear @ self.basis
        _subtract_largest(logs, self.flat)
        cells: Floats = np.exp(logs, out=logs)
        _normalise_rows(cells)
        return cells

    def likelihood(self, right: Floats, answers: Floats) -> Floats:
        """Compute (G, M) likelihoods of tallies (G,), each row scaled to a largest value of 1."""
        logs = np.outer(right, self.log_p) + np.outer(answers - right, self.log_q)
        logs -= logs.max(1, keepdims=True)
        result: Floats = np.exp(logs, out=logs)
        return result


def grid_for(answers: int) -> Grid:
    """Build a grid fine enough for workers of fewer than so many answers each."""
    return _grid(min(max(int(4 * sqrt(answers)), COARSEST), FINEST))


_grid = lru_cache(8)(Grid)


@compiled_rows
def _subtract_largest(logs, flat):  # type: ignore[no-untyped-def]
    """Add the same (M,) to all rows (R, M), then take its largest from each."""
    for r in range(logs.shape[0]):
        row, most = logs[r], -np.inf
        for m in range(flat.size):
            row[m] += flat[m]
            most = max(most, row[m])
        for m in range(flat.size):
            row[m] -= most


@compiled_rows
def _normalise_rows(cells):  # type: ignore[no-untyped-def]
    """Make every row (R, M) sum to 1."""
    for r in range(cells.shape[0]):
        row, total = cells[r], 0.0
        for m in range(row.size):
            total += row[m]
        part = 1.0 / total
        for m in range(row.size):
            row[m] *= part

"""The likely spread of accuracies of the pool: used for planning, never for judging.

The likeliest spread of accuracies is a few spikes, however smooth the truth; a little smoothing
after every step of the search keeps it a curve.
"""

import math

import numpy as np

from topk.compiled import compiled, dot_product

from .certificate import Tally
from .designs import Floats

CELLS = 120  # of equal width in angle: as fine as one deviation after 1,500 answers
STEPS, SMOOTH = 40, 0.25  # of the search, and what each cell then gives to either neighbour

_PLACES = (np.arange(CELLS) + 0.5) * math.pi / 2 / CELLS
_EDGES: Floats = np.sin(np.linspace(0, math.pi / 2, CELLS + 1)) ** 2
_RIGHT, _WRONG = 2 * np.log(np.sin(_PLACES)), 2 * np.log(np.cos(_PLACES))
ACCURACIES: Floats = np.sin(_PLACES) ** 2


def spread_of_accuracies(tally: Tally) -> Floats:
    """Return (CELLS,) the share of workers about each of ACCURACIES, sum 1: expectation and
    maximisation.

    The choice of workers to ask may follow the answers: likelihoods do not depend on it.
    """
    key = tally.pulls * (tally.pulls + 1) // 2 + tally.right
    _, one, count = np.unique(key, return_index=True, return_counts=True)
    pulls, right = tally.pulls[one], tally.right[one]
    fit = np.outer(right, _RIGHT) + np.outer(pulls - right, _WRONG)
    fit = np.exp(fit - fit.max(axis=1, keepdims=True))
    share = _likeliest_shares(fit, count.astype(np.float64))
    return np.asarray(share / share.sum())


@compiled
def _likeliest_shares(fit, count):  # type: ignore[no-untyped-def]
    """Return (CELLS,) shares after all steps; mass that would leave at an end stays there.

    fit    (tallies, CELLS) likelihood of each
    count  (tallies,) workers with each
    """
    share, cells = np.full(CELLS, 1 / CELLS), CELLS
    for _ in range(STEPS):
        grown = np.zeros(cells)
        for i in range(count.size):
            part = count[i] / dot_product(fit[i], share)
            for cell in range(cells):
                grown[cell] += part * fit[i, cell]
        grown *= share
        for cell in range(cells):
            beside = grown[max(cell - 1, 0)] + grown[min(cell + 1, cells - 1)]
            share[cell] = (1 - 2 * SMOOTH) * grown[cell] + SMOOTH * beside
    return share


def accuracy_border(share: Floats, part: float) -> float:
    """Return the accuracy above which this part of the workers lies, 0 < part < 1."""
    above = np.append(np.cumsum(share[::-1])[::-1], 0.0)
    return float(np.interp(part, above[::-1], _EDGES[::-1]))

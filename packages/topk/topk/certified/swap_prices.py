"""Prices of workers in a swap: docs/certified.md, section 4.

For each accuracy a mixture compares it with lower ones: a martingale under it that starts at 1, and
grows when the worker answers worse than that. The price of a worker outside the selection is the
most that its accuracy, less the evidence of the mixture against it, may be; that of a worker inside
is the same seen from 1 downwards.
"""

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from .swap_loops import largest_value
from .tally import Counts, Floats

# Section 10: none of these numbers matters for the guarantee.
ALTERNATIVES = 10  # lower accuracies that one is compared with
STANDS_STILL = 0.05  # weight of 1 in the mixture, so that no worker makes up for another
GRID = 500  # accuracies, evenly spread in angle
END = 0.01  # angle from an accuracy of 0 or 1 of the first and the last
# Accuracy that one nat of evidence counts for: (RATES,), a bound holds for each.
RATES = np.geomspace(2e-5, 0.2, 40)
TOGETHER = 8  # states whose prices are found at once
KEPT = 50_000  # states whose prices are kept: 16 MB


class SwapPrices:
    """Prices of all states of one mixture, found at first use, and kept.

    scale      distance of the accuracies compared, in angle
    questions  0, or the size of the set that accuracy means (section 6)
    """

    def __init__(self, scale: float, questions: int) -> None:
        self.questions = questions
        places = (np.arange(ALTERNATIVES) + 0.5) / ALTERNATIVES
        self._apart = scale * np.sqrt(-2 * np.log(1 - places))  # as spread by Rayleigh's law
        self._kept: dict[tuple[int, int], Floats] = {}
        if questions:
            self._set_up_on_set()
        else:
            self._set_up()

    def look_up(self, pulls: Counts, right: Counts) -> Floats:
        """Return (m, RATES) largest of accuracy - rate * ln(mixture), over all accuracies (4.3).

        pulls, right  (m,) answers, and how many of them are right
        """
        states = list(zip(pulls.tolist(), right.tolist(), strict=True))
        if len(self._kept) > KEPT:
            self._kept.clear()
        missing = [state for state in dict.fromkeys(states) if state not in self._kept]
        for i in range(0, len(missing), TOGETHER):
            some = missing[i : i + TOGETHER]
            self._kept.update(zip(some, self._compute(some), strict=True))
        return np.array([self._kept[state] for state in states])

    def _compute(self, states: Iterable[tuple[int, int]]) -> Floats:
        pulls, right = (np.array(x, np.float64)[:, None] for x in zip(*states, strict=True))
        evidence = self._evidence_on_set if self.questions else self._evidence
        against, reach = evidence(pulls, right)
        reach = np.ascontiguousarray(np.broadcast_to(reach, against.shape))
        return np.asarray(largest_value(reach, against, RATES))

    # -- accuracy on questions like these

    def _set_up(self) -> None:
        angles = np.linspace(END, math.pi - END, GRID)
        grid = _accuracy_at(angles)
        lower = _accuracy_at(np.maximum(angles[:, None] - self._apart, END / 100))
        self._ratios = np.log(lower / grid[:, None]), np.log((1 - lower) / (1 - grid[:, None]))
        # (4.6): what the accuracies between two grid points may add.
        apart = np.diff(np.log(grid / (1 - grid)))
        steepest = np.where((grid[:-1] < 0.5) & (grid[1:] > 0.5), 0.5, grid[:-1])
        steepest = np.where(grid[1:] <= 0.5, grid[1:], steepest)
        bend = steepest * (1 - steepest) * apart**2 / 8
        self._bend = np.maximum(np.append(bend, 0), np.append(0, bend))
        # The last is compared for all beyond it: better workers only lower the mixture. For all
        # below the first it stands still, at 1.
        self._reach = np.append(np.append(grid[:-1] + self._bend[:-1], 1.0), grid[0])

    def _evidence(self, pulls: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Return (m, GRID + 1) a lower bound of ln of the mixture, and the accuracy that it stands
        for.
        """
        ratio_right, ratio_wrong = self._ratios
        wrong = pulls - right
        logs = right[:, :, None] * ratio_right + wrong[:, :, None] * ratio_wrong
        against = _log_mixture(logs) - pulls * self._bend
        return np.append(against, np.zeros_like(pulls), axis=1), self._reach

    # -- accuracy on a question set

    def _set_up_on_set(self) -> None:
        totals = np.arange(self.questions + 1)
        angles = _arcsine_angle(totals / self.questions)[:, None] - self._apart
        self._lower = np.floor(self.questions * _accuracy_at(np.maximum(angles, 0))).astype(
            np.int64
        )
        self._log_factorials = np.append(0, np.cumsum(np.log(np.maximum(totals[1:], 1))))

    def _evidence_on_set(self, pulls: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Return the same for each total of right answers on the set; impossible ones are never
        reached.
        """
        fit = self._fit(pulls.astype(np.int64), right.astype(np.int64))
        possible = np.isfinite(fit)
        base = np.where(possible, fit, 0.0)
        against = _log_mixture(fit[:, self._lower] - base[:, :, None])
        accuracy = np.arange(self.questions + 1) / self.questions
        return np.where(possible, against, 0.0), np.where(possible, accuracy, -np.inf)

    def _fit(self, pulls: Counts, right: Counts) -> Floats:
        """Return (m, totals) ln of the probability of these answers in their order, up to a
        constant.
        """
        totals, known = np.arange(self.questions + 1), self._log_factorials
        left_right, left_wrong = totals - right, self.questions - totals - (pulls - right)
        fit = known[totals] - known[np.maximum(left_right, 0)]
        fit = fit + known[self.questions - totals] - known[np.maximum(left_wrong, 0)]
        return np.where((left_right >= 0) & (left_wrong >= 0), fit, -np.inf)


@lru_cache(8)
def swap_prices(scale: float, questions: int) -> SwapPrices:
    """Return the prices of a mixture, which runs in one process share."""
    return SwapPrices(scale, questions)


def next_to(rate: int) -> slice:
    """Return the slice of this rate and its neighbours: at the least bound two sets are often
    equal.
    """
    return slice(max(0, rate - 1), rate + 2)


def _arcsine_angle(p: Floats) -> Floats:
    return np.asarray(2 * np.arcsin(np.sqrt(p)))


def _accuracy_at(angles: Floats) -> Floats:
    return np.asarray(np.sin(angles / 2) ** 2)


def _log_mixture(logs: Floats) -> Floats:
    """Return ln of the mixture of 1 and of all the ratios along the last axis."""
    share = (1 - STANDS_STILL) / logs.shape[-1]
    return np.asarray(np.log(STANDS_STILL + share * np.exp(np.minimum(logs, 600)).sum(axis=-1)))

"""A test of a worker who fell, against the mark that they should reach.

Two e-processes bet on each answer. The first bets against "each answer is right with a probability
of at most mark − tolerance, whatever happened before"; at tries / delta the worker passes. The
second bets against "of at least the mark"; at tries / delta the worker fails. By Ville's inequality
each is wrong, at any time and in any of the tries, with a probability of at most delta.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..problem import ProblemError
from .detector import FALLS, WEIGHTS

RISES = np.array([0.2, 0.4, 0.6, 0.8, 0.95])  # accuracies of good workers, from the border to 1

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MarkTest:
    """A test of one worker against a mark.

    mark       accuracy that workers should have, in (0, 1)
    tolerance  a worker below mark - tolerance hardly ever passes; less than the mark
    delta      probability of a false result of either kind, over all tries
    tries      number of tests that the worker may take
    """

    mark: float
    tolerance: float
    delta: float
    tries: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.mark < 1:
            raise ProblemError(f"The mark is {self.mark:g}; it must lie between 0 and 1.")
        if not 0 <= self.tolerance < self.mark:
            raise ProblemError("The tolerance must be at least 0, and less than the mark.")
        if not 0 < self.delta < 1:
            raise ProblemError(f"delta is {self.delta:g}; it must lie between 0 and 1.")
        if self.tries < 1:
            raise ProblemError(f"tries is {self.tries}; there must be at least one.")

    def decide(self, right: ArrayLike) -> tuple[bool, int] | None:
        """Return whether the worker passes, and after how many answers; None if it is open.

        right  (m,) True for a right answer, in the order of the questions
        """
        border = self.mark - self.tolerance
        above = border + (1 - border) * RISES
        rises = _bet(right, border, above, np.full(RISES.size, 1 / RISES.size))
        falls = _bet(right, self.mark, self.mark * FALLS, WEIGHTS)
        needed = np.log(self.tries / self.delta)
        decided = np.flatnonzero((rises >= needed) | (falls >= needed))
        if not decided.size:
            return None
        return bool(rises[decided[0]] >= needed), int(decided[0]) + 1


def _bet(right: ArrayLike, border: float, accuracies: Floats, weights: Floats) -> Floats:
    """Return (m,) logarithms of the evidence for these accuracies against the border."""
    won = np.cumsum(np.asarray(right, bool))[:, None]
    lost = np.arange(1, won.size + 1)[:, None] - won
    logs = won * np.log(accuracies / border) + lost * np.log((1 - accuracies) / (1 - border))
    return np.asarray(np.logaddexp.reduce(logs + np.log(weights), axis=1))

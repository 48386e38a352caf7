"""pytest: a fixture that fails if a candidate beats the default, asking only what that needs.

``pytest_plugins = ["topk.adapters.pytest"]`` in a conftest.py makes it known.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from topk.certified.confidence_sequences import confidence_intervals
from topk.problem import Problem, ProblemError

SET_ASIDE_AFTER = 10  # failures in a row
ROUNDING = 1e-9  # differences of bounds that are fractions of the items
Score = Callable[[Any, Any], float]


@pytest.fixture
def assert_none_better() -> Callable[..., int]:
    """``assert_none_better``, so that a test can name it as an argument."""
    return check_none_better


def check_none_better(
    default: Any,
    candidates: Sequence[Any],
    items: Sequence[Any],
    score: Score,
    *,
    epsilon: float = 0.05,
    delta: float = 0.05,
    seed: int = 0,
) -> int:
    """Assert that no candidate's mean score is above the default's by more than epsilon.

    The mean is that over the items; each candidate meets them in a random order of its own. The
    verdict is wrong with probability at most delta. Returns how many calls it took.

    score  of a candidate and an item: True or False, or from 0 to 1. An exception is a missing
           result, assumed to be so whatever it would have been, and shown as a warning. After ten
           in a row a candidate is asked no more, and the default fails the test

    Raises AssertionError that names the better candidate, and ProblemError for bad arguments.
    """
    names = [default, *(name for name in candidates if name != default)]
    if len(names) < 2 or not items:
        raise ProblemError("There must be a candidate besides the default, and an item.")
    Problem(len(names), 1, epsilon, delta)  # refuses what is out of range
    answers = _Answers(names, items, score, seed)
    level = math.log(2 * len(names) / delta)
    undecided = np.ones(len(names), bool)
    while undecided[1:].any():
        answers.ask_next(undecided)
        lower, upper = answers.find_bounds(level)
        if (lower[1:] - upper[0] > epsilon + ROUNDING).any():
            best = int(np.argmax(lower))
            raise AssertionError(
                f"{names[best]!r} beats {default!r} by more than {epsilon:g}: at least "
                f"{lower[best]:.3f} for at most {upper[0]:.3f}, after {answers.asked.sum()} calls."
            )
        undecided[1:] &= (upper[1:] - lower[0] > epsilon + ROUNDING) & ~answers.set_aside[1:]
    answers.warn_of_missing()
    return int(answers.asked.sum())


class _Answers:
    """The scores of all candidates, the default first, each in an order of its own."""

    def __init__(self, names: list[Any], items: Sequence[Any], score: Score, seed: int) -> None:
        self._names, self._items, self._score = names, items, score
        rng, n = np.random.default_rng(seed), len(names)
        self._orders = [rng.permutation(len(items)) for _ in names]
        self.asked, self._pulls, self._rewards = np.zeros(n, int), np.zeros(n, int), np.zeros(n)
        self._failures = np.zeros(n, int)  # in a row
        self.set_aside = np.zeros(n, bool)
        self._errors: dict[int, Exception] = {}

    def ask_next(self, undecided: Any) -> None:
        """Ask each that is undecided its next item."""
        for arm in np.flatnonzero(undecided & (self.asked < len(self._items))):
            item = self._items[self._orders[arm][self.asked[arm]]]
            self.asked[arm] += 1
            try:
                value = float(self._score(self._names[arm], item))
            except Exception as error:  # whatever a call of a model may raise
                self._take_failure(int(arm), error)
                continue
            if not 0 <= value <= 1:
                raise ProblemError(
                    f"The score of {self._names[arm]!r} is {value}, not from 0 to 1."
                )
            self._failures[arm] = 0
            self._pulls[arm] += 1
            self._rewards[arm] += value

    def _take_failure(self, arm: int, error: Exception) -> None:
        self._errors[arm] = error
        self._failures[arm] += 1
        if self._failures[arm] < min(SET_ASIDE_AFTER, len(self._items)):
            return
        if arm == 0:
            raise AssertionError(
                f"The default {self._names[0]!r} failed {self._failures[0]} times in a row: "
                f"{type(error).__name__}: {error}"
            ) from error
        self.set_aside[arm] = True

    def find_bounds(self, level: float) -> tuple[Any, Any]:
        """Find bounds of all means; once all items are asked, the mean of the answers is exact."""
        lower, upper = confidence_intervals(self._pulls, self._rewards, level, len(self._items))
        known = (self.asked == len(self._items)) & (self._pulls > 0)
        means = self._rewards / np.maximum(self._pulls, 1)
        return np.where(known, means, lower), np.where(known, means, upper)

    def warn_of_missing(self) -> None:
        for arm, error in self._errors.items():
            missing, note = self.asked[arm] - self._pulls[arm], ""
            if self.set_aside[arm]:
                note = " It was set aside, and nothing is said of it."
            warnings.warn(
                f"{missing} results of {self._names[arm]!r} are missing, the last one because of "
                f"{type(error).__name__}: {error}.{note}",
                stacklevel=3,
            )

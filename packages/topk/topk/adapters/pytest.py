"""pytest: a fixture that fails if a candidate beats the default, asking only what that needs.

``pytest_plugins = ["topk.adapters.pytest"]`` in a conftest.py makes it known.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from topk.certified.confidence_sequences import confidence_intervals
from topk.problem import Problem, ProblemError

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

    score  of a candidate and an item: True or False, or from 0 to 1

    Raises AssertionError that names the better candidate, and ProblemError for bad arguments.
    """
    names = [default, *(name for name in candidates if name != default)]
    if len(names) < 2 or not items:
        raise ProblemError("There must be a candidate besides the default, and an item.")
    Problem(len(names), 1, epsilon, delta)  # refuses what is out of range
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(items)) for _ in names]
    level = math.log(2 * len(names) / delta)
    pulls, rewards = np.zeros(len(names), np.int64), np.zeros(len(names))
    undecided = np.ones(len(names), bool)
    while undecided[1:].any():
        for arm in np.flatnonzero(undecided & (pulls < len(items))):
            value = float(score(names[arm], items[orders[arm][pulls[arm]]]))
            if not 0 <= value <= 1:
                raise ProblemError(f"The score of {names[arm]!r} is {value}, not from 0 to 1.")
            pulls[arm] += 1
            rewards[arm] += value
        lower, upper = confidence_intervals(pulls, rewards, level, len(items))
        if (lower[1:] - upper[0] > epsilon + ROUNDING).any():
            best = int(np.argmax(lower))
            raise AssertionError(
                f"{names[best]!r} beats {default!r} by more than {epsilon:g}: at least "
                f"{lower[best]:.3f} for at most {upper[0]:.3f}, after {pulls.sum()} calls."
            )
        undecided[1:] &= (upper[1:] - lower[0] > epsilon + ROUNDING) & (pulls.min() < len(items))
    return int(pulls.sum())

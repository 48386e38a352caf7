"""Prices of the arms: a rule that takes them asks where a unit of money tells most.

They only choose whom to ask; bounds and stops never look at them. docs/prices.md says what each
guarantee then assumes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .options import Option
from .problem import ProblemError

Floats = NDArray[np.float64]

PRICES = Option(
    "prices",
    None,
    "What an answer of each worker costs, one number for each, in any unit. Without them, or if "
    "all are equal, every answer counts alike.",
    "positives",
    by_hand=False,
)
UNRELATED = "Assumes that prices tell nothing of accuracy. "


def check_prices(prices: Any, n: int) -> Floats | None:
    """Check (n,) prices; None without. Raises ProblemError if there is not one for each arm."""
    if prices is None:
        return None
    costs = np.asarray(prices, np.float64)
    if costs.shape != (n,):
        raise ProblemError(f"prices must be one for each of the {n} workers, not {costs.size}.")
    return costs


def relative_prices(prices: Any, n: int) -> Floats | None:
    """Scale (n,) prices to a geometric mean of 1; None without prices or if all are equal.

    Raises ProblemError if there is not one for each arm.
    """
    costs = check_prices(prices, n)
    if costs is None or (costs == costs[0]).all():
        return None
    result: Floats = costs / np.exp(np.log(costs).mean())
    return result

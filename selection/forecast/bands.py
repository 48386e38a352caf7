"""The band that holds four of five outcomes, made of as many simulated ones as there are."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from selection.models import running_forecasts

HELD = 0.8
MANY = running_forecasts.LEAST_RUNS_FOR_BAND  # outcomes speak for themselves
WORTH, SPREAD = 4, 0.35  # until then: as if of 4 more that spread by a third
UNTHOUGHT = 0.2  # standard deviation of the log of a price, for kinds of crowd no belief thinks of


def prediction_band(
    outcomes: Sequence[int], most: int, unthought: float = UNTHOUGHT
) -> tuple[int, int, int]:
    """(low, median, high) of what the next one may be, at most ``most``.

    A prediction interval: of the outcomes' own ranks where they are many, else of a log-normal
    whose spread is only partly theirs. One outcome does not make a certainty. Recorded crowds cost
    more and less than any drawn from a belief, so it is made wider by ``unthought``: 0 where the
    crowd itself has been met.
    """
    values = np.asarray(outcomes, float)
    if values.min() == most:  # the most there can be, whoever is tested
        return most, most, most
    tails = np.quantile(values, [(1 - HELD) / 2, 0.5, (1 + HELD) / 2], method="weibull")
    logs = (
        np.log(np.maximum(tails, 1))
        if values.size >= MANY
        else _band_of_few(np.log(values.clip(1)))
    )
    beyond = ndtri((1 + HELD) / 2) * unthought
    logs = logs[1] + np.array([-1, 0, 1]) * np.hypot(logs - logs[1], beyond)
    low, median, high = np.exp(logs)
    bounds = np.clip(np.rint([low, median, high]), 1, most)
    bounds[tails < 0.5] = 0  # no answer is needed: a run can end before it asks anybody
    low, median, high = bounds.astype(int).tolist()
    return low, median, high


def _band_of_few(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    free = WORTH + logs.size - 1
    variance = (WORTH * SPREAD**2 + ((logs - logs.mean()) ** 2).sum()) / free
    reach = stdtrit(free, (1 + HELD) / 2) * sqrt(variance * (1 + 1 / logs.size))
    return np.asarray(logs.mean() + np.array([-reach, 0, reach]))

"""A prediction band that holds four of five outcomes, from the simulated outcomes so far."""

from collections.abc import Sequence

import numpy as np
import scipy

from selection.models import forecasts

HELD = 0.8
MANY = forecasts.LEAST_RUNS_FOR_BAND  # outcomes: enough for a band
UNTHOUGHT = 0.2  # standard deviation of a log price, for kinds of crowd outside every belief


def prediction_band(
    outcomes: Sequence[int], most: int, unthought: float = UNTHOUGHT
) -> tuple[int, int, int]:
    """Predict (low, median, high) of the next outcome, at most ``most``.

    A prediction interval from the ranks of MANY outcomes. Recorded crowds cost more and less than
    any drawn from a belief, so the band is widened by ``unthought``: 0 if the crowd itself has
    answered.
    """
    values = np.asarray(outcomes, float)
    if values.min() == most:  # every outcome is at the upper bound
        return most, most, most
    tails = np.quantile(values, [(1 - HELD) / 2, 0.5, (1 + HELD) / 2], method="weibull")
    logs = np.log(np.maximum(tails, 1))
    beyond = scipy.special.ndtri((1 + HELD) / 2) * unthought
    logs = logs[1] + np.array([-1, 0, 1]) * np.hypot(logs - logs[1], beyond)
    low, median, high = np.exp(logs)
    bounds = np.clip(np.rint([low, median, high]), 1, most)
    bounds[tails < 0.5] = 0  # a run can end without asking any worker
    low, median, high = bounds.astype(int).tolist()
    return low, median, high

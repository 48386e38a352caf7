"""What a factor pays out where a worker may stop: docs/certified.md, (4.1).

A payoff is any number of at least 0 for each (m, S), the same for all accuracies. It decides what
is paid, never whether the promise holds.
"""

import math

import numpy as np
from numpy.typing import NDArray

from .designs import Floats, angle

Counts = NDArray[np.int64]

TEMPER_EARLY, TEMPER_END = 1.2, 1.0  # the posterior is widened so far before the horizon, and at it
POWER = 2.0  # what the expected loss is raised to
QUADRATURE = 0.4  # distance of accuracies in the posterior, in deviations
FIRST_STOP = 3  # answers before that


def payoffs(horizon: int, c: float, t: float, gate: float) -> tuple[Floats, Floats]:
    """1 / (mean of e^loss by the posterior)^POWER; 0 where stopping is not offered (4.1).

    Returns two arrays ((h + 1)(h + 2) / 2,), inside and outside, stored as the tables are.
    """
    size = (horizon + 1) * (horizon + 2) // 2
    pay_in, pay_out = np.zeros(size), np.zeros(size)
    count = math.ceil(math.pi * math.sqrt(horizon) / QUADRATURE)
    nodes = np.sin((np.arange(count) + 0.5) * math.pi / count / 2) ** 2
    right, wrong = np.log(nodes), np.log1p(-nodes)
    inner, outer = t * np.maximum(c - nodes, 0), t * np.maximum(nodes - c, 0)
    sums = np.exp(np.stack([np.zeros(count), inner, outer]))
    # sums: (3, nodes), what is added up under the posterior: 1, and e^(t loss) on either side.
    for m in range(min(FIRST_STOP, horizon), horizon + 1):
        temper = (TEMPER_END if m == horizon else TEMPER_EARLY) ** 2
        s = np.arange(m + 1)
        offered = np.ones(m + 1, bool) if m == horizon else _far(m, s, c, gate)
        if not offered.any():
            continue
        s = s[offered]
        # fit: (nodes, s), log likelihood of every accuracy; its largest is taken out of the ratio.
        fit = (np.outer(right - wrong, s) + m * wrong[:, None]) / temper
        all_, ins, outs = sums @ np.exp(fit - fit.max(0))
        place = m * (m + 1) // 2 + s
        pay_in[place], pay_out[place] = (all_ / ins) ** POWER, (all_ / outs) ** POWER
    return pay_in, pay_out


def _far(m: int, right: Counts, c: float, gate: float) -> NDArray[np.bool_]:
    """Where the mean lies ``gate`` deviations or more from c."""
    center = float(angle(np.array(c)))
    mean = np.asarray((right + 0.25) / (m + 0.5), np.float64)
    far: NDArray[np.bool_] = np.abs(angle(mean) - center) * math.sqrt(m) >= gate
    return far

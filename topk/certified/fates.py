"""Fates: answers and price of a worker that is asked until it can be left (docs/certified.md, 8).

A worker is left when its price has come near the fee of its side, which no answers could take away,
or at the horizon.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from topk.compiled import compiled

from .crowd import ACCURACIES
from .designs import Floats, threshold_accuracy
from .payoffs import state_places
from .states import States
from .supermartingales import Prices, price_tables

LEVELS = np.array([0.02, 0.04, 0.08, 0.16, 0.33, 0.7, 1.4, 2.8, 5.6])  # times K epsilon / n
SURE = 0.3  # within so many deviations of the threshold the side is uncertain
RARE = 1e-7  # a state that is reached less often counts as not reached
KEPT = 20_000  # 2 kB each


@dataclass(frozen=True)
class Fates:
    """The fate of a worker of each of ACCURACIES that is left at a level; arrays are (cells,).

    answers  its mean number of answers
    price    its mean price at the end
    """

    answers: Floats
    price: Floats


def least_fee(table: Prices) -> tuple[float, float]:
    """Return the prices that no answers can take away: the least inside, and outside."""
    return float(table.inside.min()), float(table.outside.min())


@lru_cache(KEPT)
def foresee_fates(
    horizon: int, number: int, kind: int, questions: int, each: float, warm: int, level: int
) -> Fates:
    """Return the fates by a design, as in ``price_tables``; its own threshold sets the scale.

    each   K epsilon / n, the unit of LEVELS
    warm   answers before which no worker is left
    level  number of the level
    """
    kept, above, price = _design_course(horizon, number, kind, questions)
    leaves = above <= LEVELS[level] * each
    leaves[: kept.start[min(warm, horizon)]] = False
    leaves[kept.start[horizon] :] = True
    return Fates(
        *_follow_design(kept.low, kept.high, kept.start, leaves, price, ACCURACIES, questions)
    )


@lru_cache(2)  # one after another, the levels of a design are asked for
def _design_course(
    horizon: int, number: int, kind: int, questions: int
) -> tuple[States, Floats, Floats]:
    """Return the states of a design, (states,) heights above the fee, and prices."""
    table = price_tables(horizon, number, number, kind, questions)
    kept = table.states
    place = state_places(*kept.pairs(), threshold_accuracy(horizon, number))
    least_in, least_out = least_fee(table)
    above = np.where(place >= 0, table.inside - least_in, table.outside - least_out)
    inside = ndtr(place / SURE)
    price = inside * table.inside + (1 - inside) * table.outside
    return kept, above.astype(np.float64), price


@compiled
def _follow_design(low, high, start, leaves, price, accuracies, questions):  # type: ignore[no-untyped-def]
    """Go forward from no answer, for every accuracy; return mean answers and final prices."""
    answers, ends = np.zeros((2, accuracies.size))
    now, after = np.zeros((2, low.size + 1))
    for cell in range(accuracies.size):
        now[:] = 0.0
        now[0], first, last = 1.0, 0, 0
        for m in range(low.size):
            if last < first:
                break
            begin, end = first, last
            first, last = low.size, -1
            for s in range(begin, end + 1):
                chance, now[s] = now[s], 0.0
                if chance < RARE:
                    continue
                at = start[m] + min(max(s, low[m]), high[m]) - low[m]
                if leaves[at]:
                    answers[cell] += chance * m
                    ends[cell] += chance * price[at]
                    continue
                right = accuracies[cell]
                if questions:
                    right = min(max((right * questions - s) / (questions - m), 0.0), 1.0)
                after[s] += chance * (1 - right)
                after[s + 1] += chance * right
                first, last = min(first, s), s + 1
            now, after = after, now
    return answers, ends

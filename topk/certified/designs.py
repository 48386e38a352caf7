"""Designs: number of answers, threshold, scale (docs/certified.md, sections 2 and 4).

None of these numbers matters for the guarantee; they decide its cost.
"""

import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

# Scale in deviations of the threshold after h answers, and deviations from c beyond which stopping
# early is offered; None for payoffs that are learned.
KINDS: tuple[tuple[float, float | None], ...] = ((1.2, 3.0), (1.7, 2.0), (1.2, None))
# The K-th best of a crowd is mostly at .87, and .8 to .93 (in angle): this part of a horizon's
# weight is spread about there, the rest evenly.
USUAL, SPREAD, FOR_USUAL = 2.4, 0.2, 0.65
# A horizon beyond this has half as many thresholds, and prices only within so many deviations of
# them, for speed.
LONG, WHOLE, BAND = 450, 213, 8.0
APART, APART_LONG = 0.5, 1.0  # distance of thresholds, in deviations
HIGHEST = 300.0  # most of scale times loss: its exponential and that over FLOOR are finite numbers
FIRST_HORIZON, GROWTH = 6.0, 1.25
# Horizons end here: a table takes h^1.5 steps for each accuracy.
LAST_HORIZON, LAST_OF_LARGE_POOL, LARGE_POOL = 1000, 5000, 200
LARGEST_SET = 1000


def arcsine_angle(p: Floats) -> Floats:
    """Return angles, in which a mean of m answers has the deviation 1 / sqrt(m) everywhere."""
    return 2 * np.arcsin(np.sqrt(np.clip(p, 0, 1)))


@lru_cache(1000)  # at one look the same border is asked for on every horizon
def _angle_of(accuracy: float) -> float:
    return float(arcsine_angle(np.array(accuracy)))


@cache
def threshold_count(horizon: int) -> int:
    """Return the number of thresholds of a horizon."""
    return math.ceil(math.pi * math.sqrt(horizon) / (APART_LONG if horizon > LONG else APART))


@cache
def threshold_accuracy(horizon: int, number: int) -> float:
    """Return threshold 0 to count - 1, evenly spread in angle."""
    return math.sin((number + 0.5) * math.pi / threshold_count(horizon) / 2) ** 2


@cache
def log_weight(horizon: int, number: int) -> float:
    """Return ln of a threshold's share of the weight of its horizon."""
    return float(_log_weights(threshold_count(horizon))[number])


@cache
def _log_weights(count: int) -> Floats:
    angles = (np.arange(count) + 0.5) * math.pi / count
    usual = np.exp(-(((angles - USUAL) / SPREAD) ** 2) / 2)
    return np.asarray(np.log((1 - FOR_USUAL) / count + FOR_USUAL * usual / usual.sum()))


def nearest_threshold(horizon: int, accuracy: float) -> int:
    """Return the threshold nearest to this accuracy that is neither the first nor the last.

    Those two could lie in an end cell, where section 4 needs the threshold outside.
    """
    count = threshold_count(horizon)
    place = int(_angle_of(accuracy) / math.pi * count)
    return min(max(place, 1), count - 2)


@cache
def scale_of(horizon: int, number: int, kind: int) -> float:
    """Return t: the larger, the less all others cost and the more those near the threshold."""
    c = threshold_accuracy(horizon, number)
    return min(KINDS[kind][0] * math.sqrt(horizon / (c * (1 - c))), HIGHEST / max(c, 1 - c))


def list_horizons(n: int, questions: int) -> list[int]:
    """Return horizons about 25 % apart, farther for a large pool; at most the set's size, and that
    size.
    """
    last = LAST_OF_LARGE_POOL if n >= LARGE_POOL else LAST_HORIZON
    count = int(math.log(last / FIRST_HORIZON) / math.log(GROWTH)) + 1
    growing = [round(FIRST_HORIZON * GROWTH**i) for i in range(count)]
    if not questions:
        return growing
    whole = [questions] if questions <= LARGEST_SET else []
    return [h for h in growing if h < min(questions, LARGEST_SET)] + whole

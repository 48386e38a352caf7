"""What a factor pays out where a worker may stop: docs/certified.md, (4.1).

A payoff is any number of at least 0 for each (m, S), the same for all accuracies. It decides what
is paid, never whether the promise holds.
"""

import math
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .designs import KINDS, Floats, angle

Counts = NDArray[np.int64]

TEMPER_EARLY, TEMPER_END = 1.2, 1.0  # the posterior is widened so far before the horizon, and at it
POWER = 2.0  # what the expected loss is raised to
QUADRATURE = 0.4  # distance of accuracies in the posterior, in deviations
FIRST_STOP = 3  # answers before that

LEARNED = Path(__file__).with_name("learned.npz")
# The grid of what is learned: parts of the horizon, and deviations from c.
TIMES = np.array([0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
PLACES = np.linspace(-9, 9, 61)
WRONG_SIDE = 3.0  # no learned payoff for whoever lies farther on the other side of c
WELL_AWAY = 4.0  # beyond it no payoff is above the cap, so that what is far off costs no fee
NEVER = -600.0


def payoffs(horizon: int, c: float, t: float, kind: int) -> tuple[Floats, Floats]:
    """By the posterior where the gate is open (4.1), or as learned, where there is none (4.5).

    Returns two arrays ((h + 1)(h + 2) / 2,), inside and outside, stored as the tables are; 0 where
    stopping is not offered.
    """
    tau, gate = KINDS[kind]
    if gate is None:
        return _learned(horizon, c, t, tau)
    return _by_posterior(horizon, c, t, gate, TEMPER_EARLY, POWER)


def _by_posterior(
    horizon: int, c: float, t: float, gate: float, temper_early: float, power: float
) -> tuple[Floats, Floats]:
    """1 / (mean of e^loss by the posterior)^power; 0 where stopping is not offered (4.1)."""
    size = (horizon + 1) * (horizon + 2) // 2
    pay_in, pay_out = np.zeros(size), np.zeros(size)
    count = math.ceil(math.pi * math.sqrt(horizon) / QUADRATURE)
    nodes = np.sin((np.arange(count) + 0.5) * math.pi / count / 2) ** 2
    right, wrong = np.log(nodes), np.log1p(-nodes)
    inner, outer = t * np.maximum(c - nodes, 0), t * np.maximum(nodes - c, 0)
    # sums: (3, nodes), what is added up under the posterior: 1, and e^(t loss) on either side.
    sums = np.exp(np.stack([np.zeros(count), inner, outer]))
    for m in range(min(FIRST_STOP, horizon), horizon + 1):
        temper = (TEMPER_END if m == horizon else temper_early) ** 2
        s = np.arange(m + 1)
        offered = np.ones(m + 1, bool) if m == horizon else _far(m, s, c, gate)
        if not offered.any():
            continue
        s = s[offered]
        # fit: (nodes, s), log likelihood of every accuracy; its largest is taken out of the ratio.
        fit = (np.outer(right - wrong, s) + m * wrong[:, None]) / temper
        all_, ins, outs = sums @ np.exp(fit - fit.max(0))
        place = m * (m + 1) // 2 + s
        pay_in[place], pay_out[place] = (all_ / ins) ** power, (all_ / outs) ** power
    return pay_in, pay_out


@cache
def _corrections(tau: float) -> tuple[Floats, float]:
    """What is learned for a scale (``python -m research.payoffs``), and the cap; all logarithms.

    (2, TIMES + 1, PLACES): by side, time (the last row is the horizon itself) and place.
    """
    with np.load(LEARNED) as stored:
        return stored[f"{tau:g}"].astype(np.float64), float(stored[f"{tau:g} cap"])


def _learned(horizon: int, c: float, t: float, tau: float) -> tuple[Floats, Floats]:
    """The mean by the posterior, times a correction that depends on time and place only (4.5)."""
    corrections, cap = _corrections(tau)
    place = places(horizon, c)
    corners, weights = interpolation(horizon, c)
    pay = []
    for side, base in enumerate(basis(horizon, c, t)):
        # log: (states,), the correction between the four points of the grid around each state.
        log = base + (weights * corrections[side].ravel()[corners]).sum(axis=0)
        log = np.where(np.abs(place) > WELL_AWAY, np.minimum(log, cap), log)
        pay.append(np.where(base > NEVER, np.exp(log), 0.0))
    return pay[0], pay[1]


def basis(horizon: int, c: float, t: float) -> tuple[Floats, Floats]:
    """ln 1 / (mean of e^loss by the posterior); NEVER far on the wrong side of c, or too early."""
    place = places(horizon, c)
    with np.errstate(divide="ignore"):
        inside, outside = (
            np.maximum(np.log(pay), NEVER)
            for pay in _by_posterior(horizon, c, t, 0.0, TEMPER_END, 1.0)
        )
    return np.where(place < -WRONG_SIDE, NEVER, inside), np.where(
        place > WRONG_SIDE, NEVER, outside
    )


def places(horizon: int, c: float) -> Floats:
    """(states,) how many deviations the mean lies from c, in angle."""
    m, s = np.tril_indices(horizon + 1)
    apart = angle((s + 0.25) / (m + 0.5)) - angle(np.array(c))
    return np.asarray(apart * np.sqrt(np.maximum(m, 0.25)))


def interpolation(horizon: int, c: float) -> tuple[Counts, Floats]:
    """(4, states) numbers of the points of the grid around each state, and their weights."""
    m, _ = np.tril_indices(horizon + 1)
    row, up = _between(TIMES, m / horizon)
    column, on = _between(PLACES, places(horizon, c))
    last = m == horizon
    row, up = np.where(last, TIMES.size, row), np.where(last, 0.0, up)
    next_row = np.where(last, row, row + 1)
    corners = [r * PLACES.size + k for r in (row, next_row) for k in (column, column + 1)]
    weights = [u * v for u in (1 - up, up) for v in (1 - on, on)]
    return np.stack(corners), np.stack(weights)


def _between(knots: Floats, x: Floats) -> tuple[Counts, Floats]:
    """The knot before each x, and how much of the way to the next it is; ends are not passed."""
    x = np.clip(x, knots[0], knots[-1])
    before = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, knots.size - 2)
    return before, (x - knots[before]) / (knots[before + 1] - knots[before])


def _far(m: int, right: Counts, c: float, gate: float) -> NDArray[np.bool_]:
    """Where the mean lies ``gate`` deviations or more from c."""
    center = float(angle(np.array(c)))
    mean = np.asarray((right + 0.25) / (m + 0.5), np.float64)
    far: NDArray[np.bool_] = np.abs(angle(mean) - center) * math.sqrt(m) >= gate
    return far

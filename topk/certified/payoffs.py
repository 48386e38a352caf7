"""What a factor pays out where a worker may stop: docs/certified.md, (4.1).

A payoff is any number of at least 0 for each (m, S), the same for all accuracies. It decides what
is paid, never whether the promise holds.
"""

import math
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .designs import BAND, KINDS, Counts, Floats, angle, threshold
from .states import States, states

TEMPER_EARLY, TEMPER_END = 1.2, 1.0  # the posterior is widened so far before the horizon, and at it
POWER = 2.0  # what the expected loss is raised to
QUADRATURE = 0.4  # distance of accuracies in the posterior, in deviations
FIRST_STOP = 3  # answers before that
APART = 0.125  # of the root of the answers: states so near are interpolated on long horizons

LEARNED = Path(__file__).with_name("learned.npz")
# The grid of what is learned: parts of the horizon, and deviations from c.
TIMES = np.array([0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
PLACES = np.linspace(-9, 9, 61)
WRONG_SIDE = 3.0  # no learned payoff for whoever lies farther on the other side of c
WRONG_SIDE_IN_BAND = 4.0  # no payoff at all, on a long horizon
WELL_AWAY = 4.0  # beyond it no payoff is above the cap, so that what is far off costs no fee
NEVER = -600.0
TINY = 1e-300


def payoffs(
    horizon: int, number: int, t: float, kind: int, questions: int = 0
) -> tuple[Floats, Floats]:
    """By the posterior where the gate is open (4.1), or as learned, where there is none (4.5).

    Returns two arrays, inside and outside, stored as the tables are; 0 where stopping is not
    offered.
    """
    c, kept = threshold(horizon, number), states(horizon, number, questions)
    tau, gate = KINDS[kind]
    if gate is None:
        inside, outside = _learned(kept, horizon, c, t, tau)
    else:
        inside, outside = _by_posterior(kept, horizon, c, t, gate, TEMPER_EARLY, POWER)
    return (inside, outside) if kept.whole else _in_band(kept, c, inside, outside)


def _in_band(kept: States, c: float, inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    """Nothing on the wrong side, and at most 1 near the edge.

    Whoever is beyond the edge counts as at it (4.6), so that the worst come there again and again:
    what is paid there is what everybody pays for.
    """
    place = places(*kept.pairs(), c)
    inside = np.where(place < -WRONG_SIDE_IN_BAND, 0.0, inside)
    outside = np.where(place > WRONG_SIDE_IN_BAND, 0.0, outside)
    near_edge = np.abs(place) > BAND - 2
    return (
        np.where(near_edge, np.minimum(inside, 1.0), inside),
        np.where(near_edge, np.minimum(outside, 1.0), outside),
    )


def _by_posterior(
    kept: States,
    horizon: int,
    c: float,
    t: float,
    gate: float,
    temper_early: float,
    power: float,
) -> tuple[Floats, Floats]:
    """1 / (mean of e^loss by the posterior)^power; 0 where stopping is not offered (4.1)."""
    pay_in, pay_out = np.zeros(kept.start[-1]), np.zeros(kept.start[-1])
    count = math.ceil(math.pi * math.sqrt(horizon) / QUADRATURE)
    nodes = np.sin((np.arange(count) + 0.5) * math.pi / count / 2) ** 2
    right, wrong = np.log(nodes), np.log1p(-nodes)
    inner, outer = t * np.maximum(c - nodes, 0), t * np.maximum(nodes - c, 0)
    # sums: (3, nodes), what is added up under the posterior: 1, and e^(t loss) on either side.
    sums = np.exp(np.stack([np.zeros(count), inner, outer]))
    for m in range(min(FIRST_STOP, horizon), horizon + 1):
        temper = (TEMPER_END if m == horizon else temper_early) ** 2
        row = np.arange(kept.low[m], kept.high[m] + 1)
        offered = np.ones(row.size, bool) if m == horizon else _far(m, row, c, gate)
        if not offered.any():
            continue
        s = row[offered]
        some = s if kept.whole else _some(m, row)
        # fit: (nodes, some), log likelihood of every accuracy; its largest is taken out.
        fit = (np.outer(right - wrong, some) + m * wrong[:, None]) / temper
        all_, ins, outs = sums @ np.exp(fit - fit.max(0))
        inside, outside = (all_ / ins) ** power, (all_ / outs) ** power
        if not kept.whole:
            inside, outside = (
                np.exp(np.interp(s, some, np.log(np.maximum(pay, TINY))))
                for pay in (inside, outside)
            )
        place = kept.start[m] + s - kept.low[m]
        pay_in[place], pay_out[place] = inside, outside
    return pay_in, pay_out


def _some(m: int, row: Counts) -> Counts:
    """Of many answers some states, a fraction of a deviation apart; between them interpolated."""
    step = max(1, int(APART * math.sqrt(m)))
    return np.unique(np.append(row[::step], row[-1]))


@cache
def _corrections(tau: float) -> tuple[Floats, float]:
    """What is learned for a scale (``python -m research.payoffs``), and the cap; all logarithms.

    (2, TIMES + 1, PLACES): by side, time (the last row is the horizon itself) and place.
    """
    with np.load(LEARNED) as stored:
        return stored[f"{tau:g}"].astype(np.float64), float(stored[f"{tau:g} cap"])


def _learned(kept: States, horizon: int, c: float, t: float, tau: float) -> tuple[Floats, Floats]:
    """The mean by the posterior, times a correction that depends on time and place only (4.5)."""
    corrections, cap = _corrections(tau)
    m, s = kept.pairs()
    place = places(m, s, c)
    corners, weights = interpolation(m / horizon, place)
    pay = []
    for side, base in enumerate(basis(kept, horizon, c, t)):
        # log: (states,), the correction between the four points of the grid around each state.
        log = base + (weights * corrections[side].ravel()[corners]).sum(axis=0)
        log = np.where(np.abs(place) > WELL_AWAY, np.minimum(log, cap), log)
        pay.append(np.where(base > NEVER, np.exp(log), 0.0))
    return pay[0], pay[1]


def basis(kept: States, horizon: int, c: float, t: float) -> tuple[Floats, Floats]:
    """ln 1 / (mean of e^loss by the posterior); NEVER far on the wrong side of c, or too early."""
    place = places(*kept.pairs(), c)
    with np.errstate(divide="ignore"):
        inside, outside = (
            np.maximum(np.log(pay), NEVER)
            for pay in _by_posterior(kept, horizon, c, t, 0.0, TEMPER_END, 1.0)
        )
    return np.where(place < -WRONG_SIDE, NEVER, inside), np.where(
        place > WRONG_SIDE, NEVER, outside
    )


def places(m: Counts, s: Counts, c: float) -> Floats:
    """(states,) how many deviations the mean lies from c, in angle."""
    apart = angle((s + 0.25) / (m + 0.5)) - angle(np.array(c))
    return np.asarray(apart * np.sqrt(np.maximum(m, 0.25)))


def interpolation(time: Floats, place: Floats) -> tuple[Counts, Floats]:
    """(4, states) numbers of the points of the grid around each state, and their weights.

    time  (states,) part of the horizon
    """
    row, up = _between(TIMES, time)
    column, on = _between(PLACES, place)
    last = time == 1
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

"""Payoffs: the payment of a factor in states at which a worker may stop (docs/certified.md, (4.1)).

A payoff is any number of at least 0 for each (m, S), the same for all accuracies. It decides the
cost, never the validity of the guarantee.
"""

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topk.compiled import compiled

from .designs import BAND, KINDS, Counts, Floats, arcsine_angle, threshold_accuracy
from .mean_losses import mean_losses
from .states import States, design_states

TEMPER_EARLY, TEMPER_END = 1.2, 1.0  # the posterior is widened so far before the horizon, and at it
POWER = 2.0  # what the expected loss is raised to
FIRST_STOP = 3  # answers before that

LEARNED = Path(__file__).with_name("learned.npz")
# The grid of what is learned: parts of the horizon, and deviations from c.
TIMES = np.array([0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
PLACES = np.linspace(-9, 9, 61)
WRONG_SIDE = 3.0  # no learned payoff farther on the other side of c
WRONG_SIDE_IN_BAND = 4.0  # no payoff at all, on a long horizon
WELL_AWAY = 4.0  # beyond it no payoff is above the cap, so that what is far off costs no fee
NEVER = -600.0


def design_payoffs(
    horizon: int, number: int, t: float, kind: int, questions: int = 0
) -> tuple[Floats, Floats]:
    """Return payoffs by the posterior if the gate is open (4.1), or learned ones without a gate
    (4.5).

    Returns two arrays, inside and outside, stored as the tables are; 0 if stopping is not offered.
    """
    c, kept = threshold_accuracy(horizon, number), design_states(horizon, number, questions)
    place, (tau, gate) = state_places(*kept.pairs(), c), KINDS[kind]
    if gate is None:
        inside, outside = _learned_payoffs(kept, horizon, c, t, place, tau)
    else:
        pay = _posterior_payoffs(kept, horizon, c, t, np.abs(place) >= gate, TEMPER_EARLY)
        inside, outside = (each**POWER for each in pay)
    return (inside, outside) if kept.whole else _limit_to_band(place, inside, outside)


def _limit_to_band(place: Floats, inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    """Return the payoffs, cut to 0 on the wrong side and to at most 1 near the edge.

    States beyond the edge count as at it (4.6), so the worst come there again and again: all pay
    for the payoffs there.
    """
    inside = np.where(place < -WRONG_SIDE_IN_BAND, 0.0, inside)
    outside = np.where(place > WRONG_SIDE_IN_BAND, 0.0, outside)
    near_edge = np.abs(place) > BAND - 2
    return (
        np.where(near_edge, np.minimum(inside, 1.0), inside),
        np.where(near_edge, np.minimum(outside, 1.0), outside),
    )


def _posterior_payoffs(
    kept: States, horizon: int, c: float, t: float, offered: NDArray[np.bool_], temper_early: float
) -> tuple[Floats, Floats]:
    """Return 1 / mean of e^loss by the posterior; 0 if stopping is not offered; offered at the
    horizon.

    offered  (states,) True if the gate is open, for states with enough answers
    """
    temper = np.full(horizon + 1, temper_early**2)
    temper[horizon] = TEMPER_END**2
    offered[: kept.start[min(FIRST_STOP, horizon)]] = False
    offered[kept.start[horizon] :] = True
    return mean_losses(kept, horizon, c, t, offered, temper)


@cache
def learned_corrections(tau: float) -> tuple[Floats, float]:
    """Return the learned corrections of a scale (``python -m research.payoffs``), and the cap, as
    logs.

    (2, TIMES + 1, PLACES): by side, time (the last row is the horizon itself) and place.
    """
    with np.load(LEARNED) as stored:
        return stored[f"{tau:g}"].astype(np.float64), float(stored[f"{tau:g} cap"])


def _learned_payoffs(
    kept: States, horizon: int, c: float, t: float, place: Floats, tau: float
) -> tuple[Floats, Floats]:
    """Return the mean by the posterior, times a correction by time and place only (4.5)."""
    learned, cap = learned_corrections(tau)
    corners, weights = interpolation_weights(kept.pairs()[0] / horizon, place)
    pay = []
    for side, base in enumerate(posterior_basis(kept, horizon, c, t)):
        # log: (states,), the correction between the four points of the grid around each state.
        log = base + (weights * learned[side].ravel()[corners]).sum(axis=0)
        log = np.where(np.abs(place) > WELL_AWAY, np.minimum(log, cap), log)
        pay.append(np.where(base > NEVER, np.exp(log), 0.0))
    return pay[0], pay[1]


def posterior_basis(kept: States, horizon: int, c: float, t: float) -> tuple[Floats, Floats]:
    """Return ln 1 / (mean of e^loss by the posterior); NEVER far on the wrong side of c, or too
    early.
    """
    place = state_places(*kept.pairs(), c)
    pay = _posterior_payoffs(kept, horizon, c, t, np.ones(place.size, bool), TEMPER_END)
    with np.errstate(divide="ignore"):
        inside, outside = (np.maximum(np.log(each), NEVER) for each in pay)
    return np.where(place < -WRONG_SIDE, NEVER, inside), np.where(
        place > WRONG_SIDE, NEVER, outside
    )


def state_places(m: Counts, s: Counts, c: float) -> Floats:
    """Return (states,) how many deviations the mean lies from c, in angle."""
    apart = arcsine_angle((s + 0.25) / (m + 0.5)) - arcsine_angle(np.array(c))
    return np.asarray(apart * np.sqrt(np.maximum(m, 0.25)))


@compiled
def interpolation_weights(time, place):  # type: ignore[no-untyped-def]
    """Return (4, states) numbers of the points of the grid around each state, and their weights.

    time, place  (states,) part of the horizon, and as of ``state_places``
    """
    corners, weights = np.empty((4, time.size), np.int64), np.empty((4, time.size))
    for i in range(time.size):
        row, up = _between_knots(TIMES, time[i])
        column, on = _between_knots(PLACES, place[i])
        if time[i] == 1:
            row, up = TIMES.size, 0.0
        for corner in range(4):
            low, left = corner < 2, corner % 2 == 0
            at = row if low or row == TIMES.size else row + 1
            corners[corner, i] = at * PLACES.size + (column if left else column + 1)
            weights[corner, i] = (1 - up if low else up) * (1 - on if left else on)
    return corners, weights


@compiled
def _between_knots(knots, x):  # type: ignore[no-untyped-def]
    """Return the knot before x, and the part of the way to the next; the ends are not passed."""
    x = min(max(x, knots[0]), knots[-1])
    before = min(max(np.searchsorted(knots, x, side="right") - 1, 0), knots.size - 2)
    return before, (x - knots[before]) / (knots[before + 1] - knots[before])

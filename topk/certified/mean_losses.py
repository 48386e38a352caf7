"""The mean of e^(t loss) over a posterior of the accuracy, in every state (4.1).

Compiled: a table has up to a million states, with hundreds of accuracies each.
"""

import math

import numpy as np
from numpy.typing import NDArray

from topk.compiled import compiled, compiled_sums

from .designs import Floats
from .states import States

QUADRATURE = 0.4  # distance of accuracies in the posterior, in deviations
APART = 0.125  # of the root of the answers: states so near are interpolated on long horizons
# A likelihood is found from that of the state before, and anew after so many states and so many
# right answers: rounding errors stay few, and what was too small to be seen is not lost.
ANEW_STATES, ANEW_ANSWERS = 8, 16


def mean_losses(
    kept: States, horizon: int, c: float, t: float, offered: NDArray[np.bool_], temper: Floats
) -> tuple[Floats, Floats]:
    """Return one over the mean of e^loss, inside and outside; 0 if stopping is not offered.

    offered  (states,)
    temper   (horizon + 1,) the log likelihood of so many answers is divided by it
    """
    count = math.ceil(math.pi * math.sqrt(horizon) / QUADRATURE)
    nodes = np.sin((np.arange(count) + 0.5) * math.pi / count / 2) ** 2
    inner, outer = np.exp(t * np.maximum(c - nodes, 0)), np.exp(t * np.maximum(nodes - c, 0))
    step = np.ones(horizon + 1, np.int64)
    if not kept.whole:
        step = np.maximum(1, (APART * np.sqrt(np.arange(horizon + 1))).astype(np.int64))
    inside, outside = np.zeros((2, offered.size))
    _fill_rows(
        *(kept.low, kept.start, offered, step, temper),
        *(np.log(nodes), np.log1p(-nodes), inner, outer, inside, outside),
    )
    return inside, outside


@compiled
def _fill_rows(  # type: ignore[no-untyped-def]
    low, start, offered, step, temper, right, wrong, inner, outer, inside, outside
):
    """Fill row by row: the states that are needed, and between them interpolations of the
    logarithm.
    """
    fit, ratio = np.empty(right.size), np.empty(right.size)
    for m in range(low.size):
        begin, last, apart = start[m], start[m + 1] - 1, step[m]
        for j in range(right.size):
            ratio[j] = np.exp((right[j] - wrong[j]) * apart / temper[m])
        left = 0  # so many more states may be found from the one before
        for place in range(begin, last + apart, apart):
            at = min(place, last)
            if not offered[max(begin, place - apart + 1) : min(at + apart, last + 1)].any():
                left = 0
                continue
            if left == 0 or at < place:
                _start_fit(fit, right, wrong, low[m] + at - begin, m, temper[m])
                left = max(1, min(ANEW_STATES, ANEW_ANSWERS // apart))
            left -= 1
            whole, ins, outs = _sum_losses(fit, ratio, inner, outer)
            inside[at], outside[at] = whole / ins, whole / outs
        for at in range(begin, last, apart):
            end = min(at + apart, last)
            _interpolate_between(inside[at : end + 1])
            _interpolate_between(outside[at : end + 1])
        for at in range(begin, last + 1):
            if not offered[at]:
                inside[at] = outside[at] = 0.0


@compiled
def _start_fit(fit, right, wrong, s, m, temper):  # type: ignore[no-untyped-def]
    """Set fit to the likelihood of every accuracy, its largest 1."""
    for j in range(fit.size):
        fit[j] = (right[j] * s + wrong[j] * (m - s)) / temper
    most = fit.max()
    for j in range(fit.size):
        fit[j] = np.exp(fit[j] - most)


@compiled_sums
def _sum_losses(fit, ratio, inner, outer):  # type: ignore[no-untyped-def]
    """Return sums of the likelihood, and of it times either side's losses; then go a step on."""
    whole, ins, outs = 0.0, 0.0, 0.0
    for j in range(fit.size):
        one = fit[j]
        whole += one
        ins += one * inner[j]
        outs += one * outer[j]
        fit[j] = one * ratio[j]
    return whole, ins, outs


@compiled
def _interpolate_between(values):  # type: ignore[no-untyped-def]
    """Interpolate from the first to the last, evenly in logarithm; nothing if either is 0."""
    last = values.size - 1
    if last < 2 or values[0] == 0.0 or values[last] == 0.0:
        return
    one, other = np.log(values[0]), np.log(values[last])
    for i in range(1, last):
        values[i] = np.exp(one + (other - one) * i / last)

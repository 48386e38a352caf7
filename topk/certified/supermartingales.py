"""What a worker adds to the certificate: tables of prices, one pair for each design.

docs/certified.md, sections 2 to 4 and 6. A design is a horizon h (most answers of a worker), a
threshold c, and a kind, which sets a scale t. A pair of tables holds, for S right answers among m,
the largest of ``loss - ln(factor) / t`` over all accuracies: ``inside`` for a worker in the
selection (it loses what its accuracy lacks of c), ``outside`` for one left out (what it has above).

A table is stored row after row: (m, S) is at m (m + 1) / 2 + S, 0 <= S <= m <= h.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Counts = NDArray[np.int64]

# Section 4. The constants decide what is paid, never whether the promise holds.
# Scale in deviations of the threshold after h answers, and deviations from c beyond which stopping
# early is offered.
KINDS = ((1.2, 2.0), (1.2, 3.0), (1.7, 2.0))
TEMPER_EARLY, TEMPER_END = (
    1.2,
    1.0,
)  # how far the posterior is widened before the horizon, and at it
POWER = 2.0  # what the expected loss is raised to
QUADRATURE = 0.4  # distance of accuracies in the posterior, in deviations
FIRST_STOP = 3  # answers before that
LONG = 450  # a horizon beyond this has half as many thresholds, for speed
FINEST, FINEST_LONG = 0.5, 1.0  # distance of thresholds, in deviations
NEAR, WIDE = 0.1, 0.5  # least and most distance of accuracies, in deviations
SPREAD = 0.04  # what it is in between, of the distance from the threshold
ENDS = (0.05, 0.1, 0.2, 0.4, 0.6)  # distances from an accuracy of 0 or 1 at which there is one too

HIGHEST = 300.0  # most of scale times loss: its exponential and that over FLOOR are finite numbers
FLOOR = 1e-140  # least payoff
LONGEST = 1000  # horizons end here: a table takes h^2.5 steps
TABLES_KEPT = 96  # a pair of the longest horizon takes 3.8 MB

# As in kernels: dividing by zero gives infinity.
compiled = njit(cache=True, error_model="numpy")


@dataclass(frozen=True)
class Prices:
    """inside, outside  float32 ((h + 1)(h + 2) / 2,), rounded up
    scale            t
    """

    inside: Singles
    outside: Singles
    scale: float


@dataclass(frozen=True)
class Cells:
    """Accuracies in cells; one supermartingale stands for each end of a cell (section 4).

    low, high          (g,) it is one under every accuracy between these
    inner, outer       (g,) the loss inside and outside the selection, times t
    bent_in, bent_out  (g,) what this may be more between two grid points
    bend               (g,) what the accuracies between two grid points may add, for each answer
    """

    low: Floats
    high: Floats
    inner: Floats
    outer: Floats
    bent_in: Floats
    bent_out: Floats
    bend: Floats


def angle(p: Floats) -> Floats:
    """In which the deviation of a mean of m answers is 1 / sqrt(m) everywhere."""
    return 2 * np.arcsin(np.sqrt(np.clip(p, 0, 1)))


def thresholds(horizon: int) -> int:
    """How many thresholds a horizon has."""
    return math.ceil(math.pi * math.sqrt(horizon) / (FINEST_LONG if horizon > LONG else FINEST))


def threshold(horizon: int, number: int) -> float:
    """Number 0 to thresholds - 1, evenly spread in angle."""
    return math.sin((number + 0.5) * math.pi / thresholds(horizon) / 2) ** 2


def nearest(horizon: int, accuracy: float) -> int:
    """The threshold nearest to this accuracy that is neither the first nor the last.

    Those two could lie in an end cell, where section 4 needs the threshold outside.
    """
    count = thresholds(horizon)
    place = int(angle(np.array(accuracy)) / math.pi * count)
    return min(max(place, 1), count - 2)


def scale_of(horizon: int, number: int, kind: int) -> float:
    """t: the larger, the less all others cost and the more those near the threshold."""
    c = threshold(horizon, number)
    return min(KINDS[kind][0] * math.sqrt(horizon / (c * (1 - c))), HIGHEST / max(c, 1 - c))


@lru_cache(maxsize=TABLES_KEPT)
def prices(horizon: int, number: int, reference: int, kind: int, questions: int) -> Prices:
    """The tables of a design, built when first asked for and kept in this process.

    number     of the threshold
    reference  of the threshold that sets the scale: groups with thresholds of their own share it
    kind       number of the kind
    questions  0, or how many there are in the set that accuracy means (section 6)
    """
    c, t = threshold(horizon, number), scale_of(horizon, reference, kind)
    cells = _set_cells(questions, c, t) if questions else _cells(horizon, c, t)
    pay_in, pay_out = _payoffs(horizon, c, t, KINDS[kind][1])
    inside, outside = _search(
        horizon, questions, *(cells.low, cells.high, cells.inner, cells.outer),
        *(cells.bent_in, cells.bent_out, cells.bend), pay_in, pay_out,
    )  # fmt: skip
    return Prices(_rounded_up(np.log(inside) / t), _rounded_up(np.log(outside) / t), t)


def _rounded_up(values: Floats) -> Singles:
    return np.nextafter(values.astype(np.float32), np.float32(np.inf))


def _cells(horizon: int, c: float, t: float) -> Cells:
    """All accuracies in [0, 1]."""
    grid = _grid(horizon, c)
    low, high, far = grid.copy(), grid.copy(), grid.copy()
    low[0] = far[0] = 0.0
    high[-1] = far[-1] = 1.0
    variance = np.maximum(grid[1:] * (1 - grid[1:]), grid[:-1] * (1 - grid[:-1]))
    variance[(grid[:-1] < 0.5) & (grid[1:] > 0.5)] = 0.25
    width = np.diff(np.log(grid) - np.log1p(-grid))
    between = variance * width**2 / 8  # (4.3)
    return Cells(
        *(low, high, t * np.maximum(c - far, 0), t * np.maximum(far - c, 0)),
        bent_in=t * _either_side(between * (grid[:-1] < c)),
        bent_out=t * _either_side(between * (grid[1:] > c)),
        bend=_either_side(between),
    )


def _either_side(between: Floats) -> Floats:
    """(g,) the larger of what lies before and after a grid point."""
    before, after = np.insert(between, 0, 0.0), np.append(between, 0.0)
    return np.asarray(np.maximum(before, after))


def _grid(horizon: int, c: float) -> Floats:
    """Accuracies strictly between 0 and 1, finer near c."""
    deviation = 1 / math.sqrt(horizon)
    ends = np.array(ENDS) * deviation
    start, end = ends[0], math.pi - ends[0]
    right = np.array(_steps(math.pi / deviation))
    center = float(angle(np.array(c)))
    sides = [center - right * deviation, center + right * deviation, ends, math.pi - ends]
    places = np.unique(np.concatenate(sides))
    inner = places[(places > start) & (places < end)]
    grid: Floats = np.sin(np.concatenate([[start], inner, [end]]) / 2) ** 2
    return grid


def _steps(far: float) -> list[float]:
    """0 and on to ``far``: workers far from the threshold have few answers, which bend little."""
    steps = [0.0]
    while steps[-1] < far:
        steps.append(steps[-1] + min(max(NEAR, SPREAD * steps[-1]), WIDE))
    return steps


def _set_cells(questions: int, c: float, t: float) -> Cells:
    """The accuracies that are possible on so many questions: no others, so no slack."""
    exact = np.arange(questions + 1) / questions
    inner, outer = t * np.maximum(c - exact, 0), t * np.maximum(exact - c, 0)
    return Cells(exact, exact, inner, outer, *np.zeros((3, exact.size)))


def _payoffs(horizon: int, c: float, t: float, gate: float) -> tuple[Floats, Floats]:
    """1 / (mean of e^loss by the posterior)^POWER; 0 where stopping is not offered (4.1)."""
    size = (horizon + 1) * (horizon + 2) // 2
    pay_in, pay_out = np.zeros(size), np.zeros(size)
    count = math.ceil(math.pi * math.sqrt(horizon) / QUADRATURE)
    nodes = np.sin((np.arange(count) + 0.5) * math.pi / count / 2) ** 2
    right, wrong = np.log(nodes), np.log1p(-nodes)
    inner, outer = t * np.maximum(c - nodes, 0), t * np.maximum(nodes - c, 0)
    sums = np.exp(np.stack([np.zeros(count), inner, outer]))
    for m in range(min(FIRST_STOP, horizon), horizon + 1):
        temper = (TEMPER_END if m == horizon else TEMPER_EARLY) ** 2
        s = np.arange(m + 1)
        offered = np.ones(m + 1, bool) if m == horizon else _far(m, s, c, gate)
        if not offered.any():
            continue
        s = s[offered]
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


@compiled
def _search(  # type: ignore[no-untyped-def]
    horizon, questions, low, high, inner, outer, bent_in, bent_out, bend, pay_in, pay_out
):
    """e^(t price) at every (m, S), inside and outside: the largest over all cells (3.1)."""
    inside, outside = np.zeros(pay_in.size), np.zeros(pay_in.size)
    value = np.empty((horizon + 1, horizon + 1))
    for cell in range(low.size):
        # Values are divided by the e^(t loss) of the cell, which their ratio does not see.
        shift = max(inner[cell], outer[cell])
        as_in, as_out = np.exp(inner[cell] - shift), np.exp(outer[cell] - shift)
        if questions:
            _envelope_of_set(horizon, questions, cell, as_in, as_out, pay_in, pay_out, value)
        else:
            ends = (low[cell], high[cell])
            _envelope(horizon, ends, as_in, as_out, pay_in, pay_out, value)
        from_in = value[0, 0] * np.exp(inner[cell] + bent_in[cell])
        from_out = value[0, 0] * np.exp(outer[cell] + bent_out[cell])
        for m in range(horizon + 1):
            slack = np.exp(m * bend[cell])
            if_in, if_out = from_in * slack, from_out * slack
            row = m * (m + 1) // 2
            # On a set, so many right answers are possible with ``cell`` right ones in all.
            first = max(0, m - questions + cell) if questions else 0
            last = min(m, cell) if questions else m
            begin, end = row + first, row + last + 1
            _raise(inside[begin:end], outside[begin:end], value[m, first : last + 1], if_in, if_out)
    return inside, outside


@compiled
def _raise(inside, outside, values, if_in, if_out):  # type: ignore[no-untyped-def]
    """Both tables, or the start over the value where that is more. No branch, as below."""
    for i in range(values.size):
        part = 1.0 / values[i]
        inner, outer = if_in * part, if_out * part
        inside[i] = inner if inner > inside[i] else inside[i]
        outside[i] = outer if outer > outside[i] else outside[i]


@compiled
def _last(horizon, as_in, as_out, pay_in, pay_out, row):  # type: ignore[no-untyped-def]
    """At the horizon the payoff is all there is; above FLOOR, and so everywhere."""
    begin = horizon * (horizon + 1) // 2
    for s in range(horizon + 1):
        row[s] = max(as_in * pay_in[begin + s], as_out * pay_out[begin + s], FLOOR)


@compiled
def _envelope(  # type: ignore[no-untyped-def]
    horizon, ends, as_in, as_out, pay_in, pay_out, value
):
    """The least supermartingale above the payoff, from the horizon back to no answer (4.2)."""
    low, high = ends
    _last(horizon, as_in, as_out, pay_in, pay_out, value[horizon])
    for m in range(horizon - 1, -1, -1):
        row, after = value[m], value[m + 1]
        begin = m * (m + 1) // 2
        ins, outs = pay_in[begin : begin + m + 1], pay_out[begin : begin + m + 1]
        for s in range(m + 1):
            step = after[s + 1] - after[s]
            one, other = after[s] + low * step, after[s] + high * step
            mean = one if one > other else other
            inner, outer = as_in * ins[s], as_out * outs[s]
            pay = inner if inner > outer else outer
            row[s] = mean if mean > pay else pay


@compiled
def _envelope_of_set(  # type: ignore[no-untyped-def]
    horizon, questions, right, as_in, as_out, pay_in, pay_out, value
):
    """The same for ``right`` right answers on the whole set: drawn without returning (6.1)."""
    _last(horizon, as_in, as_out, pay_in, pay_out, value[horizon])
    for m in range(horizon - 1, -1, -1):
        row, after = value[m], value[m + 1]
        begin, left = m * (m + 1) // 2, 1.0 / (questions - m)
        ins, outs = pay_in[begin : begin + m + 1], pay_out[begin : begin + m + 1]
        for s in range(m + 1):
            share = (right - s) * left
            share = share if share > 0.0 else 0.0
            share = share if share < 1.0 else 1.0
            mean = after[s] + share * (after[s + 1] - after[s])
            inner, outer = as_in * ins[s], as_out * outs[s]
            pay = inner if inner > outer else outer
            row[s] = mean if mean > pay else pay

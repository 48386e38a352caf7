"""What a worker adds to the certificate: tables of prices, one pair for each design.

docs/certified.md, sections 2 to 4 and 6. A design is a horizon h (most answers of a worker), a
threshold c, and a kind, which sets a scale t. A pair of tables holds, for S right answers among m,
the largest of ``loss - ln(factor) / t`` over all accuracies: ``inside`` for a worker in the
selection (it loses what its accuracy lacks of c), ``outside`` for one left out (what it has above).

Where the price of (m, S) is in a table, ``states.py`` says.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .designs import Counts, Floats, angle, scale_of, threshold
from .payoffs import payoffs
from .states import States, states

Singles = NDArray[np.float32]

# Section 4. The constants decide what is paid, never whether the promise holds.
NEAR, WIDE = 0.1, 0.5  # least and most distance of accuracies, in deviations
SPREAD = 0.04  # what it is in between, of the distance from the threshold
ENDS = (0.05, 0.1, 0.2, 0.4, 0.6)  # distances from an accuracy of 0 or 1 at which there is one too

FLOOR = 1e-140  # least payoff
# A run uses some hundreds of short tables, and the next one much the same. A pair of them takes at
# most .2 MB, one of the longest horizon 4 MB.
SHORT, SHORT_KEPT, LONG_KEPT = 213, 1200, 72

# As in kernels: dividing by zero gives infinity.
compiled = njit(cache=True, error_model="numpy")


@dataclass(frozen=True)
class Prices:
    """inside, outside  float32 (states,), rounded up
    scale            t
    """

    inside: Singles
    outside: Singles
    scale: float
    states: States

    def of(
        self, chosen: NDArray[np.bool_], pulls: Counts, right: Counts, out: Counts | None = None
    ) -> Floats:
        """(n,) the price of each worker, in the selection or outside.

        out  (n,) answers that are still to come: the largest price that they may lead to (3.3)
        """
        if out is None or not out.any():
            at = self.states.place(pulls, right)
            return np.where(chosen, self.inside[at], self.outside[at]).astype(np.float64)
        # For each worker as many entries as there are numbers of right ones among those out.
        ways = out + 1
        first = np.cumsum(ways) - ways
        more = np.arange(ways.sum()) - np.repeat(first, ways)
        at = self.states.place(np.repeat(pulls + out, ways), np.repeat(right, ways) + more)
        each = np.where(np.repeat(chosen, ways), self.inside[at], self.outside[at])
        return np.maximum.reduceat(each, first).astype(np.float64)


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


def prices(horizon: int, number: int, reference: int, kind: int, questions: int) -> Prices:
    """The tables of a design, built when first asked for and kept in this process.

    number     of the threshold
    reference  of the threshold that sets the scale: groups with thresholds of their own share it
    kind       number of the kind
    questions  0, or how many there are in the set that accuracy means (section 6)
    """
    kept = _short if horizon <= SHORT else _long
    return kept(horizon, number, reference, kind, questions)


def _built(horizon: int, number: int, reference: int, kind: int, questions: int) -> Prices:
    c, t = threshold(horizon, number), scale_of(horizon, reference, kind)
    cells = _set_cells(questions, c, t) if questions else _cells(horizon, c, t)
    pay_in, pay_out = payoffs(horizon, number, t, kind, questions)
    kept = states(horizon, number, questions)
    inside, outside = _search(
        questions, kept.low, kept.start, *(cells.low, cells.high, cells.inner, cells.outer),
        *(cells.bent_in, cells.bent_out, cells.bend), pay_in, pay_out,
    )  # fmt: skip
    return Prices(_rounded_up(np.log(inside) / t), _rounded_up(np.log(outside) / t), t, kept)


_short, _long = lru_cache(SHORT_KEPT)(_built), lru_cache(LONG_KEPT)(_built)


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


@compiled
def _search(  # type: ignore[no-untyped-def]
    questions, least, start, low, high, inner, outer, bent_in, bent_out, bend, pay_in, pay_out
):
    """e^(t price) of every state, inside and outside: the largest over all cells (3.1)."""
    inside, outside = np.zeros(pay_in.size), np.zeros(pay_in.size)
    value = np.empty(pay_in.size)
    for cell in range(low.size):
        # Values are divided by the e^(t loss) of the cell, which their ratio does not see.
        shift = max(inner[cell], outer[cell])
        as_in, as_out = np.exp(inner[cell] - shift), np.exp(outer[cell] - shift)
        if questions:
            _envelope_of_set(start, questions, cell, as_in, as_out, pay_in, pay_out, value)
        else:
            ends = (low[cell], high[cell])
            _envelope(least, start, ends, as_in, as_out, pay_in, pay_out, value)
        from_in = value[0] * np.exp(inner[cell] + bent_in[cell])
        from_out = value[0] * np.exp(outer[cell] + bent_out[cell])
        for m in range(least.size):
            slack = np.exp(m * bend[cell])
            if_in, if_out = from_in * slack, from_out * slack
            begin, end = start[m], start[m + 1]
            if questions:
                # On a set, so many right answers are possible with ``cell`` right ones in all.
                begin, end = begin + max(0, m - questions + cell), begin + min(m, cell) + 1
            _raise(inside[begin:end], outside[begin:end], value[begin:end], if_in, if_out)
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
def _last(start, as_in, as_out, pay_in, pay_out, value):  # type: ignore[no-untyped-def]
    """At the horizon the payoff is all there is; above FLOOR, and so everywhere."""
    for i in range(start[-2], start[-1]):
        value[i] = max(as_in * pay_in[i], as_out * pay_out[i], FLOOR)


@compiled
def _envelope(  # type: ignore[no-untyped-def]
    least, start, ends, as_in, as_out, pay_in, pay_out, value
):
    """The least supermartingale above the payoff, from the horizon back to no answer (4.2).

    Whoever is beyond the edge of the band counts as at it: the value there is at least what may
    come from any of them (4.6).
    """
    low, high = ends
    _last(start, as_in, as_out, pay_in, pay_out, value)
    for m in range(least.size - 2, -1, -1):
        begin, end, stop = start[m], start[m + 1], start[m + 2]
        row, after = value[begin:end], value[end:stop]
        ins, outs = pay_in[begin:end], pay_out[begin:end]
        moved = least[m + 1] - least[m]
        for s in range(moved, min(row.size, after.size - 1 + moved)):
            step = after[s - moved + 1] - after[s - moved]
            one, other = after[s - moved] + low * step, after[s - moved] + high * step
            mean = one if one > other else other
            inner, outer = as_in * ins[s], as_out * outs[s]
            pay = inner if inner > outer else outer
            row[s] = mean if mean > pay else pay
        if least[m + 1] > 0:
            row[0] = _edge(row[0], moved, as_in * ins[0], as_out * outs[0], after[0])
        if least[m + 1] + after.size - 1 < m + 1:
            fixed = after.size - 1 + moved < row.size
            row[-1] = _edge(row[-1], fixed, as_in * ins[-1], as_out * outs[-1], after[-1])


@compiled
def _edge(inner_value, fixed, inner, outer, beyond):  # type: ignore[no-untyped-def]
    """At the edge: what was found from within, if anything was, what pays, what is beyond."""
    found = 0.0 if fixed else inner_value
    return max(found, inner, outer, beyond)


@compiled
def _envelope_of_set(  # type: ignore[no-untyped-def]
    start, questions, right, as_in, as_out, pay_in, pay_out, value
):
    """The same for ``right`` right answers on the whole set: drawn without returning (6.1)."""
    _last(start, as_in, as_out, pay_in, pay_out, value)
    for m in range(start.size - 3, -1, -1):
        begin, end, left = start[m], start[m + 1], 1.0 / (questions - m)
        row, after = value[begin:end], value[end : start[m + 2]]
        ins, outs = pay_in[begin:end], pay_out[begin:end]
        for s in range(m + 1):
            chance = (right - s) * left
            chance = chance if chance > 0.0 else 0.0
            chance = chance if chance < 1.0 else 1.0
            mean = after[s] + chance * (after[s + 1] - after[s])
            inner, outer = as_in * ins[s], as_out * outs[s]
            pay = inner if inner > outer else outer
            row[s] = mean if mean > pay else pay

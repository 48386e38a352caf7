"""Prices, the additions of workers to the certificate: two tables for each design.

docs/certified.md, sections 2 to 4 and 6. A design is a horizon h (most answers of a worker), a
threshold c, and a kind, which sets a scale t. A pair of tables holds, for S right answers among m,
the largest of ``loss - ln(factor) / t`` over all accuracies: ``inside`` for a worker in the
selection (it loses the lack of its accuracy below c), ``outside`` for one left out (the excess).

``states.py`` defines the place of (m, S) in a table.
"""

import math
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from topk.compiled import compiled

from .designs import Counts, Floats, arcsine_angle, scale_of, threshold_accuracy
from .envelopes import search_envelope
from .payoffs import design_payoffs
from .states import States, design_states

Singles = NDArray[np.float32]

# Section 4. The constants decide what is paid, never whether the promise holds.
NEAR, WIDE = 0.1, 0.5  # least and most distance of accuracies, in deviations
SPREAD = 0.04  # what it is in between, of the distance from the threshold
ENDS = (0.05, 0.1, 0.2, 0.4, 0.6)  # distances from an accuracy of 0 or 1 at which there is one too

# A run uses some hundreds of tables, and the next one much the same. A pair of them takes 8 bytes a
# state: .2 MB at most up to 213 answers, .8 MB at 813, and 12 MB at the longest horizon.
STATES_KEPT = 30_000_000


@dataclass(frozen=True)
class Prices:
    """The two tables of a design.

    inside, outside  float32 (states,), rounded up
    scale            t
    """

    inside: Singles
    outside: Singles
    scale: float
    states: States

    def look_up(
        self, chosen: NDArray[np.bool_], pulls: Counts, right: Counts, out: Counts | None = None
    ) -> Floats:
        """Return (n,) the price of each worker, in the selection or outside.

        out  (n,) outstanding answers: the largest price that they may lead to (3.3)
        """
        if out is None or not out.any():
            kept = self.states
            return np.asarray(
                _look_up_prices(
                    *(self.inside, self.outside, kept.low, kept.high, kept.start),
                    *(chosen, pulls, right),
                )
            )
        # For each worker as many entries as there are numbers of right ones among those out.
        ways = out + 1
        first = np.cumsum(ways) - ways
        more = np.arange(ways.sum()) - np.repeat(first, ways)
        at = self.states.place(np.repeat(pulls + out, ways), np.repeat(right, ways) + more)
        each = np.where(np.repeat(chosen, ways), self.inside[at], self.outside[at])
        return np.maximum.reduceat(each, first).astype(np.float64)

    def gains(
        self, chosen: NDArray[np.bool_], pulls: Counts, right: Counts, ahead: Counts
    ) -> Floats:
        """Return (n,) the foreseen fall of each price, for an answer, with so many ahead."""
        kept = self.states
        return np.asarray(
            _look_up_gains(
                *(self.inside, self.outside, kept.low, kept.high, kept.start),
                *(chosen, pulls, right, ahead),
            )
        )


@compiled
def _look_up_gains(  # type: ignore[no-untyped-def]
    inside, outside, low, high, start, chosen, pulls, right, ahead
):
    """Return the gains in one go, because a look at a pool asks for several of these."""
    then = right + np.rint(ahead * ((right + 0.5) / (pulls + 1))).astype(np.int64)
    before = _look_up_prices(inside, outside, low, high, start, chosen, pulls, right)
    after = _look_up_prices(inside, outside, low, high, start, chosen, pulls + ahead, then)
    return (before - after) / np.maximum(ahead, 1)


@compiled
def _look_up_prices(  # type: ignore[no-untyped-def]
    inside, outside, low, high, start, chosen, pulls, right
):
    """Return prices at ``States.place``, in one go: a look at a pool asks for some dozens."""
    each = np.empty(pulls.size)
    for i in range(pulls.size):
        m = pulls[i]
        at = start[m] + min(max(right[i], low[m]), high[m]) - low[m]
        each[i] = inside[at] if chosen[i] else outside[at]
    return each


@dataclass(frozen=True)
class Cells:
    """Accuracies in cells; one supermartingale stands for each end of a cell (section 4).

    low, high          (g,) it is one under every accuracy between these
    inner, outer       (g,) the loss inside and outside the selection, times t
    bent_in, bent_out  (g,) possible excess of these between two grid points
    bend               (g,) possible addition of the accuracies between two points, for each answer
    """

    low: Floats
    high: Floats
    inner: Floats
    outer: Floats
    bent_in: Floats
    bent_out: Floats
    bend: Floats


def price_tables(horizon: int, number: int, reference: int, kind: int, questions: int) -> Prices:
    """Return the tables of a design, built at first use and kept in this process.

    number     of the threshold
    reference  of the threshold that sets the scale: groups with thresholds of their own share it
    kind       number of the kind
    questions  0, or the size of the set that accuracy means (section 6)
    """
    return _kept.prices(horizon, number, reference, kind, questions)


class TableCache:
    """The tables that were used last, up to a total number of states."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0
        self._tables: OrderedDict[tuple[int, ...], Prices] = OrderedDict()
        self._lock = Lock()

    def prices(self, *design: int) -> Prices:
        with self._lock:
            if design in self._tables:
                self._tables.move_to_end(design)
                return self._tables[design]
        return self._store(design, _build_tables(*design))

    def _store(self, design: tuple[int, ...], table: Prices) -> Prices:
        """Store a table, which another thread may have built meanwhile; the newest stays, however
        large.
        """
        with self._lock:
            if design not in self._tables:
                self._held += table.inside.size
            self._tables[design] = table
            while self._held > self._most and len(self._tables) > 1:
                _, oldest = self._tables.popitem(last=False)
                self._held -= oldest.inside.size
        return table


_kept = TableCache(STATES_KEPT)


def _build_tables(horizon: int, number: int, reference: int, kind: int, questions: int) -> Prices:
    c, t = threshold_accuracy(horizon, number), scale_of(horizon, reference, kind)
    cells = _set_cells(questions, c, t) if questions else _accuracy_cells(horizon, c, t)
    pay_in, pay_out = design_payoffs(horizon, number, t, kind, questions)
    kept = design_states(horizon, number, questions)
    inside, outside = search_envelope(
        questions, kept.low, kept.start, *(cells.low, cells.high, cells.inner, cells.outer),
        *(cells.bent_in, cells.bent_out, cells.bend), pay_in, pay_out,
    )  # fmt: skip
    return Prices(_rounded_up(np.log(inside) / t), _rounded_up(np.log(outside) / t), t, kept)


def _rounded_up(values: Floats) -> Singles:
    return np.nextafter(values.astype(np.float32), np.float32(np.inf))


def _accuracy_cells(horizon: int, c: float, t: float) -> Cells:
    """Return cells of all accuracies in [0, 1]."""
    grid = _accuracy_grid(horizon, c)
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
    """Return (g,) the larger of the values before and after a grid point."""
    before, after = np.insert(between, 0, 0.0), np.append(between, 0.0)
    return np.asarray(np.maximum(before, after))


def _accuracy_grid(horizon: int, c: float) -> Floats:
    """Return accuracies strictly between 0 and 1, finer near c."""
    deviation = 1 / math.sqrt(horizon)
    ends = np.array(ENDS) * deviation
    start, end = ends[0], math.pi - ends[0]
    right = np.array(_grid_steps(math.pi / deviation))
    center = float(arcsine_angle(np.array(c)))
    sides = [center - right * deviation, center + right * deviation, ends, math.pi - ends]
    places = np.unique(np.concatenate(sides))
    inner = places[(places > start) & (places < end)]
    grid: Floats = np.sin(np.concatenate([[start], inner, [end]]) / 2) ** 2
    return grid


def _grid_steps(far: float) -> list[float]:
    """Return 0 and on to ``far``: workers far from the threshold have few answers, which bend
    little.
    """
    steps = [0.0]
    while steps[-1] < far:
        steps.append(steps[-1] + min(max(NEAR, SPREAD * steps[-1]), WIDE))
    return steps


def _set_cells(questions: int, c: float, t: float) -> Cells:
    """Return the accuracies that are possible on so many questions: no others, so no slack."""
    exact = np.arange(questions + 1) / questions
    inner, outer = t * np.maximum(c - exact, 0), t * np.maximum(exact - c, 0)
    return Cells(exact, exact, inner, outer, *np.zeros((3, exact.size)))

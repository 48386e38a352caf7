"""Bounds that hold between the points of a grid, and for every population: compiled.

At any population G, the largest sum over all populations is at most its value at G and
n (max D - D(G)): the tangent of a concave function (docs/universal.md, section 3). Here
D(theta) = (1/n) [sum_i w_i a_i(theta) - eta theta], which is bounded on [0, 1] by bisection.
"""

import math

import numpy as np

from topk.compiled import compiled

from .likelihood import log_or_zero, tilt

ROUNDING = 1e-6  # nats, more than all errors of rounding
MOST_CELLS = 4000


@compiled
def log_of(right, wrong, kind, theta, lam, c):  # type: ignore[no-untyped-def]
    """Return log a(theta) of one row."""
    value = right * log_or_zero(theta) + wrong * log_or_zero(1 - theta)
    return value + lam * tilt(kind, theta, c)


@compiled
def log_peak(right, wrong, low, high, at_low, at_high, rise):  # type: ignore[no-untyped-def]
    """Return at least the log of the largest a(theta) on a cell that does not hold c inside.

    low, high        the cell's ends
    at_low, at_high  log a there
    rise             the slope of lambda * U in the cell
    """
    # A concave function is below its tangents at the ends. At 0 and 1 slopes may be infinite.
    if right > 0 and low <= 0:
        start = math.inf
    else:
        start = rise - wrong / (1 - low) + (right / low if right > 0 else 0.0)
    if wrong > 0 and high >= 1:
        end = -math.inf
    else:
        end = rise + right / high - (wrong / (1 - high) if wrong > 0 else 0.0)
    if start <= 0:
        return at_low
    if end >= 0:
        return at_high
    width = high - low
    if math.isinf(start) and math.isinf(end):
        return (right + wrong) * log_or_zero(1.0) + abs(rise)  # a likelihood is at most 1
    if math.isinf(start):
        return at_high - end * width
    if math.isinf(end):
        return at_low + start * width
    # Where the two tangents meet.
    x = (at_high - at_low - end * width) / (start - end)
    return at_low + start * min(max(x, 0.0), width)


@compiled
def cell(rows, low, high, lam, c, fall):  # type: ignore[no-untyped-def]
    """Return D at both ends of a cell without c inside, and a bound of D on the cell.

    rows  (G, 5) right, wrong, kind, log of the factor, weight
    fall  eta / n

    D exceeds the larger end by at most width^2 / 8 times the largest -D'', and -a'' is at most
    a * (s / theta^2 + f / (1 - theta)^2) because log a has no other curvature.
    """
    width, middle = high - low, 0.5 * (low + high)
    first = last = peaks = bend = 0.0
    for g in range(rows.shape[0]):
        right, wrong, kind = rows[g, 0], rows[g, 1], int(rows[g, 2])
        at_low = log_of(right, wrong, kind, low, lam, c)
        at_high = log_of(right, wrong, kind, high, lam, c)
        rise = 0.0
        if kind == 0 and middle > c:
            rise = lam
        elif kind == 1 and middle < c:
            rise = -lam
        most = log_peak(right, wrong, low, high, at_low, at_high, rise)
        factor, peak = rows[g, 3], math.exp(min(most + rows[g, 3], 700.0)) * rows[g, 4]
        first += math.exp(min(at_low + factor, 700.0)) * rows[g, 4]
        last += math.exp(min(at_high + factor, 700.0)) * rows[g, 4]
        peaks += peak
        curve = 0.0
        if right > 0:
            curve += right / (low * low) if low > 0 else math.inf
        if wrong > 0:
            curve += wrong / ((1 - high) * (1 - high)) if high < 1 else math.inf
        if curve > 0 and peak > 0:
            bend += peak * curve
    crude = peaks - min(fall * low, fall * high)
    first, last = first - fall * low, last - fall * high
    return first, last, min(crude, max(first, last) + width * width / 8 * bend)


@compiled
def highest(rows, grid, lam, c, fall, close):  # type: ignore[no-untyped-def]
    """Return an upper bound of D on [0, 1], and the largest value of D that was seen.

    grid   (M,) rising, from 0 to 1; c is made an end of cells
    close  a cell is not divided once its bound is so close to the largest value
    """
    lows, highs = np.empty(MOST_CELLS), np.empty(MOST_CELLS)
    count, seen, bound = 0, -np.inf, -np.inf
    for j in range(grid.size - 1):
        lows[count], highs[count] = grid[j], grid[j + 1]
        if grid[j] < c < grid[j + 1]:
            highs[count] = c
            count += 1
            lows[count], highs[count] = c, grid[j + 1]
        count += 1
    at = 0
    tops = np.empty(MOST_CELLS)
    for at in range(count):
        first, last, tops[at] = cell(rows, lows[at], highs[at], lam, c, fall)
        seen = max(seen, first, last)
    done = 0
    while done < count:
        low, high, top = lows[done], highs[done], tops[done]
        if top <= seen + close or count + 2 > MOST_CELLS or high - low < 1e-12:
            bound = max(bound, top)
            done += 1
            continue
        middle = 0.5 * (low + high)
        first, last, left_top = cell(rows, low, middle, lam, c, fall)
        other, _, right_top = cell(rows, middle, high, lam, c, fall)
        seen = max(seen, first, last, other)
        # Bounds of the halves never exceed the bound of the whole cell.
        highs[done], tops[done] = middle, min(left_top, top)
        lows[count], highs[count], tops[count] = middle, high, min(right_top, top)
        count += 1
    return bound, seen

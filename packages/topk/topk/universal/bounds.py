"""Bounds that hold between the points of a grid, and for every population: compiled.

At any population G, the largest sum over all populations is at most its value at G and
n (max D - D(G)): the tangent of a concave function (docs/universal.md, section 3). Here
D(theta) = (1/n) [sum_i w_i a_i(theta) - eta theta], which is bounded on [0, 1] by bisection.
"""

import math

import numpy as np

from topk.compiled import compiled

from .likelihood import INSIDE, OUTSIDE, log_or_zero, slopes, tilt

ROUNDING = 1e-6  # nats, more than all errors of rounding
MOST_CELLS = 4000


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
def logs_of(low, high):  # type: ignore[no-untyped-def]
    """Return log theta and log(1 - theta) of both ends of a cell."""
    return log_or_zero(low), log_or_zero(1 - low), log_or_zero(high), log_or_zero(1 - high)


@compiled
def parts_of(row, low, high, logs, lam, c):  # type: ignore[no-untyped-def]
    """Return a(theta) of a row at both ends of a cell without c inside, and two bounds on the cell.

    row   right, wrong, kind, log of the factor
    logs  ``logs_of`` the cell's ends

    They are of a and of -a'': that is at most a * (s / theta^2 + f / (1 - theta)^2), because log a
    has no other curvature.
    """
    right, wrong, kind = row[0], row[1], int(row[2])
    at_low = right * logs[0] + wrong * logs[1] + lam * tilt(kind, low, c)
    at_high = right * logs[2] + wrong * logs[3] + lam * tilt(kind, high, c)
    rise, middle = 0.0, 0.5 * (low + high)
    if kind == OUTSIDE and middle > c:
        rise = lam
    elif kind == INSIDE and middle < c:
        rise = -lam
    most = log_peak(right, wrong, low, high, at_low, at_high, rise)
    peak, curve = math.exp(min(most + row[3], 700.0)), 0.0
    if right > 0:
        curve += right / (low * low) if low > 0 else math.inf
    if wrong > 0:
        curve += wrong / ((1 - high) * (1 - high)) if high < 1 else math.inf
    bend = peak * curve if curve > 0 and peak > 0 else 0.0
    first, last = math.exp(min(at_low + row[3], 700.0)), math.exp(min(at_high + row[3], 700.0))
    return first, last, peak, bend


@compiled
def top_of(sums, low, high, fall):  # type: ignore[no-untyped-def]
    """Return D at both ends of a cell, and a bound of D on the cell.

    sums  of ``parts_of`` over the rows, times their weights
    fall  eta / n

    D exceeds the larger end by at most width^2 / 8 times the largest -D''.
    """
    first, last = sums[0] - fall * low, sums[1] - fall * high
    crude = sums[2] - min(fall * low, fall * high)
    return first, last, min(crude, max(first, last) + (high - low) ** 2 / 8 * sums[3])


@compiled
def cell(rows, weight, low, high, lam, c, fall):  # type: ignore[no-untyped-def]
    """Return ``top_of`` a cell without c inside, given rows (G, 4) and their weights (G,)."""
    first = last = peaks = bend = 0.0
    logs = logs_of(low, high)
    for g in range(rows.shape[0]):
        one = parts_of(rows[g], low, high, logs, lam, c)
        first += weight[g] * one[0]
        last += weight[g] * one[1]
        peaks += weight[g] * one[2]
        bend += weight[g] * one[3]
    return top_of((first, last, peaks, bend), low, high, fall)


@compiled
def cells(rows, grid, lam, c):  # type: ignore[no-untyped-def]
    """Return the ends (C + 1,) of cells, and ``parts_of`` all rows (G, 4) there: (4, G, C).

    grid  (M,) rising, from 0 to 1; c is made an end of cells
    """
    ends = np.unique(np.append(grid, c))
    table = np.empty((4, rows.shape[0], ends.size - 1))
    for j in range(ends.size - 1):
        logs = logs_of(ends[j], ends[j + 1])
        for g in range(rows.shape[0]):
            one = parts_of(rows[g], ends[j], ends[j + 1], logs, lam, c)
            for part in range(4):
                table[part, g, j] = one[part]
    return ends, table


@compiled
def highest(rows, weight, ends, table, lam, c, fall, close):  # type: ignore[no-untyped-def]
    """Return an upper bound of D on [0, 1], and the largest value of D that was seen.

    ends, table  of ``cells``
    close        a cell is not divided once its bound is so close to the largest value
    """
    lows, highs, tops = np.empty(MOST_CELLS), np.empty(MOST_CELLS), np.empty(MOST_CELLS)
    count, seen, bound = ends.size - 1, -np.inf, -np.inf
    sums = np.empty((4, count))
    for part in range(4):
        slopes(table[part], weight, sums[part])
    for j in range(count):
        lows[j], highs[j] = ends[j], ends[j + 1]
        first, last, tops[j] = top_of(sums[:, j], lows[j], highs[j], fall)
        seen = max(seen, first, last)
    done = 0
    while done < count:
        low, high, top = lows[done], highs[done], tops[done]
        if top <= seen + close or count + 2 > MOST_CELLS or high - low < 1e-12:
            bound = max(bound, top)
            done += 1
            continue
        middle = 0.5 * (low + high)
        first, last, left_top = cell(rows, weight, low, middle, lam, c, fall)
        other, _, right_top = cell(rows, weight, middle, high, lam, c, fall)
        seen = max(seen, first, last, other)
        # Bounds of the halves never exceed the bound of the whole cell.
        highs[done], tops[done] = middle, min(left_top, top)
        lows[count], highs[count], tops[count] = middle, high, min(right_top, top)
        count += 1
    return bound, seen

"""The search for the least epsilon that the certificate allows: compiled.

For any lambda > 0 and c (docs/universal.md, section 3.1)

    epsilon(lambda, c) = [sup over populations of sum_i log(mean of a_i) + loss] / (lambda K)

is certified, with loss = -log(delta Q). It is quasi-convex in (lambda, lambda c): a local search
finds its minimum. What it finds is a hint only; ``proved`` bounds the supremum at the end.
"""

import math

import numpy as np

from topk.compiled import compiled, dot_product

from .bounds import ROUNDING, highest, log_peak
from .likelihood import climb, fit, log_likelihoods, log_mean, slopes, tilt, tilted

TOLERANCE = 0.03  # nats, of the supremum during the search
WIDEST, FINEST = 1.5, 1.1  # factors of lambda
FIRST_MOVE, LAST_MOVE = 0.02, 0.004  # of c
TURNS = 40
FIRST_POWER, LAST_POWER = -1, 6  # of 4, for the first lambda in units of root n / K
REFINED = 4  # parts in which a cell beside a support point is divided before the bound
CLOSE = 0.01  # nats that a bound between grid points may lose
POLISHED = 0.003  # nats, of the supremum on the finer grid


@compiled
def epsilon_at(logs, kinds, workers, theta, lam, c, k, loss, pool, x, ends):  # type: ignore[no-untyped-def]
    """Return epsilon(lambda, c) by the likeliest populations on the grid, to which x moves.

    x     (m * M,) the populations of m groups
    ends  (m + 1,) where the rows of each group begin, and where the last ones end
    """
    rows, scale = np.empty_like(logs), np.empty(workers.size)
    tilted(logs, kinds, theta, lam, c, rows, scale)
    value, cost = 0.0, np.zeros(theta.size)
    for i in range(ends.size - 1):
        own, first, last = x[i * theta.size : (i + 1) * theta.size], ends[i], ends[i + 1]
        value += climb(rows[first:last], workers[first:last], own, cost, pool, TOLERANCE)
    return (value + dot_product(scale, workers) + loss) / (lam * k)


@compiled
def first_lambda(logs, kinds, workers, theta, c, k, loss, pool, x, ends):  # type: ignore[no-untyped-def]
    """Return a lambda to start the search from, and move x (m * M,) to the populations there."""
    best, least, y = math.sqrt(workers.sum()) / k, np.inf, x.copy()
    for power in range(FIRST_POWER, LAST_POWER):
        lam = 4.0**power * math.sqrt(workers.sum()) / k
        tried = epsilon_at(logs, kinds, workers, theta, lam, c, k, loss, pool, y, ends)
        if not tried < least:
            break
        best, least = lam, tried
        for j in range(x.size):
            x[j] = y[j]
    return best


@compiled
def search(logs, kinds, workers, theta, lam, c, k, loss, pool, x, ends, low, high):  # type: ignore[no-untyped-def]
    """Return the best (epsilon, lambda, c) that is found from this start; x (m * M,) is moved.

    low, high  c stays between them
    """
    best = epsilon_at(logs, kinds, workers, theta, lam, c, k, loss, pool, x, ends)
    factor, move = WIDEST, FIRST_MOVE
    y = np.empty_like(x)
    quiet, ways = 0, np.ones(2)
    for turn in range(TURNS):
        axis = turn % 2
        gained = False
        for _ in range(2):
            while True:
                new_lam = lam * factor ** ways[0] if axis == 0 else lam
                new_c = min(max(c + move * ways[1], low), high) if axis == 1 else c
                if new_lam == lam and new_c == c:
                    break
                for j in range(x.size):
                    y[j] = x[j]
                place = (kinds, workers, theta, new_lam, new_c)
                tried = epsilon_at(logs, *place, k, loss, pool, y, ends)
                if not tried < best:
                    break
                best, lam, c, gained = tried, new_lam, new_c, True
                for j in range(x.size):
                    x[j] = y[j]
            if gained:
                break
            ways[axis] = -ways[axis]
        quiet = 0 if gained else quiet + 1
        if quiet >= 2:
            if factor <= FINEST and move <= LAST_MOVE:
                break
            factor, move = math.sqrt(factor), move / 2
            quiet = 0
    return best, lam, c


@compiled
def refined(theta, x, c):  # type: ignore[no-untyped-def]
    """Return a finer grid around the support of x (M,), and the same population on it."""
    points = np.empty(theta.size * REFINED + 3)
    points[0], points[1], points[2] = 0.0, 1.0, c
    count = 3
    for j in range(theta.size):
        if j > 0 and (x[j] > 0 or x[j - 1] > 0):
            for i in range(1, REFINED):
                points[count] = theta[j - 1] + i / REFINED * (theta[j] - theta[j - 1])
                count += 1
        points[count] = theta[j]
        count += 1
    fine = np.unique(points[:count])
    y = np.zeros(fine.size)
    for j in range(theta.size):
        if x[j] > 0:
            y[np.searchsorted(fine, theta[j])] = x[j]
    return fine, y


@compiled
def proved_on_set(logs, kinds, workers, theta, x, lam, c, eta, pool):  # type: ignore[no-untyped-def]
    """Return ``proved`` where accuracies can only be the points of theta: shares of a question set.

    logs  (G, M) logarithms of the likelihood
    """
    total, count = workers.sum(), workers.size
    rows, scale, mean = np.empty_like(logs), np.empty(count), np.empty(count)
    tilted(logs, kinds, theta, lam, c, rows, scale)
    climb(rows, workers, x, eta * theta, pool, POLISHED)
    for g in range(count):  # and now with what is negligible
        for j in range(theta.size):
            rows[g, j] = math.exp(logs[g, j] + lam * tilt(kinds[g], theta[j], c) - scale[g])
    fit(rows, x, mean)
    value, part = -eta * dot_product(theta, x), np.empty(count)
    level, slope = value / total, np.empty(theta.size)
    for g in range(count):
        height, rise, _ = log_mean(mean[g], pool)
        value += workers[g] * (height + scale[g])
        part[g] = workers[g] * rise / total
        level += part[g] * mean[g]
    slopes(rows, part, slope)
    return value + total * ((slope - eta / total * theta).max() - level) + ROUNDING


@compiled
def proved(right, wrong, kinds, workers, theta, x, lam, c, eta, pool):  # type: ignore[no-untyped-def]
    """Return an upper bound, over all populations, of sum_i log(mean of a_i) - eta * (their mean).

    right, wrong, kinds, workers  (G,) rows
    x     (M,) any population on theta, which is moved towards the best
    pool  0 for one population; else n, and the bound is of the logarithm of the permanent
    """
    total, count = workers.sum(), right.size
    logs = log_likelihoods(right, wrong, theta, 0)
    rows, scale, mean = np.empty_like(logs), np.empty(count), np.empty(count)
    tilted(logs, kinds, theta, lam, c, rows, scale)
    if pool > 0:
        for g in range(count):
            most = _peak(right[g], wrong[g], kinds[g], theta, logs[g], lam, c)
            for j in range(theta.size):
                rows[g, j] *= math.exp(scale[g] - most)
            scale[g] = most
    climb(rows, workers, x, eta * theta, pool, POLISHED)
    fit(rows, x, mean)
    parts, value, level = (
        np.empty((count, 5)),
        -eta * dot_product(theta, x),
        -eta * dot_product(theta, x) / total,
    )
    for g in range(count):
        height, rise, _ = log_mean(mean[g], pool)
        value += workers[g] * (height + scale[g])
        parts[g, 0], parts[g, 1], parts[g, 2] = right[g], wrong[g], kinds[g]
        parts[g, 3] = -scale[g]
        parts[g, 4] = workers[g] * rise / total
        level += parts[g, 4] * mean[g]
    bound, _ = highest(parts, theta, lam, c, eta / total, CLOSE / total)
    return value + total * (bound - level) + ROUNDING


@compiled
def _peak(right, wrong, kind, theta, logs, lam, c):  # type: ignore[no-untyped-def]
    """Return at least the log of the largest a(theta) of one row; c is on the grid."""
    most = -np.inf
    for j in range(theta.size - 1):
        low, high = theta[j], theta[j + 1]
        rise = 0.0
        if kind == 0 and low >= c:
            rise = lam
        elif kind == 1 and high <= c:
            rise = -lam
        at_low = logs[j] + lam * tilt(kind, low, c)
        at_high = logs[j + 1] + lam * tilt(kind, high, c)
        most = max(most, log_peak(right, wrong, low, high, at_low, at_high, rise))
    return most

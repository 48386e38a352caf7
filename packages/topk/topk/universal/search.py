"""The search for the least epsilon that the certificate allows: compiled.

For any lambda > 0 and c (docs/universal.md, section 3.1)

    epsilon(lambda, c) = [sup over populations of sum_i log(mean of a_i) + loss] / (lambda K)

is certified, with loss = -log(delta Q). It is convex in (1 / lambda, c), so that tangents enclose
its minimum. What is found is a hint only; ``proved`` bounds the supremum at the end.
"""

import math

import numpy as np

from topk.compiled import compiled, dot_product

from .bounds import ROUNDING, cells, highest, log_peak
from .likelihood import (
    INSIDE,
    climb,
    fit,
    log_likelihoods,
    log_mean,
    slopes,
    tilt,
    tilted,
)

TOLERANCE = 0.03  # nats, of the supremum during the search
LONGEST = 16.0  # times the first 1 / lambda: the largest that is tried
CUTS = 60  # at most
WORTHWHILE = 1e-3  # part of epsilon by which a cut may lower it, or the search ends
REFINED = 4  # parts in which a cell beside a support point is divided before the bound
CLOSE = 0.02  # nats that a bound between grid points may lose
POLISHED = 0.02  # nats, of the supremum on the finer grid
FEW = 200.0  # workers; where there are more, both are as many times larger


@compiled
def epsilon_at(logs, kinds, workers, theta, lam, c, k, loss, pool, x, ends):  # type: ignore[no-untyped-def]
    """Return epsilon(lambda, c) by the likeliest populations on the grid, to which x moves.

    Also its slopes in 1 / lambda and in c: the populations stay the best ones.

    x     (m * M,) the populations of m groups
    ends  (m + 1,) where the rows of each group begin, and where the last ones end
    """
    rows, scale = np.empty_like(logs), np.empty(workers.size)
    tilted(logs, kinds, theta, lam, c, rows, scale)
    value, rise, shift = dot_product(scale, workers) + loss, 0.0, 0.0
    mean, cost = np.empty(workers.size), np.zeros(theta.size)
    for i in range(ends.size - 1):
        own, first, last = x[i * theta.size : (i + 1) * theta.size], ends[i], ends[i + 1]
        value += climb(rows[first:last], workers[first:last], own, cost, pool, TOLERANCE)
        fit(rows[first:last], own, mean[first:last])
        for g in range(first, last):
            weight = workers[g] * log_mean(mean[g], pool)[1]
            for j in np.flatnonzero(own):
                u = tilt(kinds[g], theta[j], c)
                if u > 0:
                    rise += weight * own[j] * rows[g, j] * u
                    shift += weight * own[j] * rows[g, j] * (1 if kinds[g] == INSIDE else -1)
    return value / (lam * k), (value - lam * rise) / k, shift / k


@compiled
def search(logs, kinds, workers, theta, lam, c, k, loss, pool, x, ends, low, high):  # type: ignore[no-untyped-def]
    """Return the best (epsilon, lambda, c) that is found from this start; x (m * M,) is moved.

    low, high  c stays between them

    In (1 / lambda, c) epsilon is convex. A polygon that holds the minimum is cut by the tangent at
    its centre of gravity, to where that is below the least value seen.
    """
    widest = LONGEST / lam
    polygon = np.array([[0.0, low], [widest, low], [widest, high], [0.0, high]])
    best, y, best_lam, best_c = np.inf, x.copy(), lam, c
    for _ in range(CUTS):
        place = (kinds, workers, theta, lam, c)
        found, by_inverse, by_c = epsilon_at(logs, *place, k, loss, pool, y, ends)
        if found < best:
            best, best_lam, best_c = found, lam, c
            x[:] = y
        level = best - found + by_inverse / lam + by_c * c
        least = (polygon[:, 0] * by_inverse + polygon[:, 1] * by_c).min()
        if least >= level - WORTHWHILE * best:
            break
        polygon = _cut(polygon, by_inverse, by_c, level)
        if polygon.shape[0] < 3:
            break
        inverse, c = _centre(polygon)
        lam = 1 / inverse
    return best, best_lam, best_c


@compiled
def _cut(polygon, a, b, level):  # type: ignore[no-untyped-def]
    """Return the part of the polygon (V, 2) where a * x + b * y is at most the level."""
    size, count = polygon.shape[0], 0
    result = np.empty((2 * size, 2))
    over = a * polygon[:, 0] + b * polygon[:, 1] - level
    for v in range(size):
        w = (v + 1) % size
        if over[v] <= 0:
            result[count] = polygon[v]
            count += 1
        if over[v] * over[w] < 0:
            part = over[v] / (over[v] - over[w])
            result[count] = polygon[v] + part * (polygon[w] - polygon[v])
            count += 1
    return result[:count]


@compiled
def _centre(polygon):  # type: ignore[no-untyped-def]
    """Return the centre of gravity of a polygon (V, 2)."""
    area, x, y = 0.0, 0.0, 0.0
    first = polygon[0]
    for v in range(1, polygon.shape[0] - 1):
        one, two = polygon[v] - first, polygon[v + 1] - first
        part = abs(one[0] * two[1] - one[1] * two[0]) + 1e-300
        area += part
        x += part * (one[0] + two[0]) / 3
        y += part * (one[1] + two[1]) / 3
    return first[0] + x / area, first[1] + y / area


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
def proved_on_set(logs, kinds, workers, theta, x, lam, c, etas, pool):  # type: ignore[no-untyped-def]
    """Return ``proved`` where accuracies can only be the points of theta: shares of a question set.

    logs  (G, M) logarithms of the likelihood
    """
    total, count = workers.sum(), workers.size
    rows, scale, mean = np.empty_like(logs), np.empty(count), np.empty(count)
    tilted(logs, kinds, theta, lam, c, rows, scale)
    exact = np.empty_like(rows)  # with what is negligible
    for g in range(count):
        for j in range(theta.size):
            exact[g, j] = math.exp(logs[g, j] + lam * tilt(kinds[g], theta[j], c) - scale[g])
    part, slope, result = np.empty(count), np.empty(theta.size), np.empty(etas.size)
    for e in range(etas.size):
        eta = etas[e]
        climb(rows, workers, x, eta * theta, pool, POLISHED)
        fit(exact, x, mean)
        value = -eta * dot_product(theta, x)
        level = value / total
        for g in range(count):
            height, rise, _ = log_mean(mean[g], pool)
            value += workers[g] * (height + scale[g])
            part[g] = workers[g] * rise / total
            level += part[g] * mean[g]
        slopes(exact, part, slope)
        result[e] = value + total * ((slope - eta / total * theta).max() - level) + ROUNDING
    return result


@compiled
def proved(right, wrong, kinds, workers, theta, x, lam, c, etas, pool):  # type: ignore[no-untyped-def]
    """Return (E,) bounds, over all populations, of sum_i log(mean of a_i) - eta * (their mean).

    right, wrong, kinds, workers  (G,) rows
    x     (M,) any population on theta, which is moved towards the best
    etas  (E,) best in an order in which neighbours are close
    pool  0 for one population; else n, and the bound is of the logarithm of the permanent
    """
    total, count = workers.sum(), right.size
    logs = log_likelihoods(right, wrong, theta, 0)
    rows, scale, mean = np.empty_like(logs), np.empty(count), np.empty(count)
    tilted(logs, kinds, theta, lam, c, rows, scale)
    parts, weight = np.empty((count, 4)), np.empty(count)
    for g in range(count):
        if pool > 0:
            most = _peak(right[g], wrong[g], kinds[g], theta, logs[g], lam, c)
            for j in range(theta.size):
                rows[g, j] *= math.exp(scale[g] - most)
            scale[g] = most
        parts[g, 0], parts[g, 1], parts[g, 2], parts[g, 3] = right[g], wrong[g], kinds[g], -scale[g]
    ends, table = cells(parts, theta, lam, c)
    times = max(1.0, total / FEW)
    result = np.empty(etas.size)
    for e in range(etas.size):
        eta = etas[e]
        climb(rows, workers, x, eta * theta, pool, POLISHED * times)
        fit(rows, x, mean)
        value = -eta * dot_product(theta, x)
        level = value / total
        for g in range(count):
            height, rise, _ = log_mean(mean[g], pool)
            value += workers[g] * (height + scale[g])
            weight[g] = workers[g] * rise / total
            level += weight[g] * mean[g]
        close = CLOSE * times / total
        bound, _ = highest(parts, weight, ends, table, lam, c, eta / total, close)
        result[e] = value + total * (bound - level) + ROUNDING
    return result


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

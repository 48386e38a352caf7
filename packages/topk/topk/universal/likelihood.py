"""Maximum likelihood over all populations: compiled inner loops (docs/universal.md, section 3).

A row stands for workers with equal tallies and equal membership in the selection. Of a worker with
s right and f wrong answers,

    log a(theta) = s log theta + f log(1 - theta) + lambda * U(theta),

where U is (theta - c)+ for a worker outside the selection, (c - theta)+ for one inside it and 0
for one who was withdrawn. Between 0, c and 1 it is concave.
"""

import math

import numpy as np

from topk.compiled import compiled, compiled_sums, dot_product

OUTSIDE, INSIDE, WITHDRAWN = 0, 1, 2
LOG_ZERO = -1e30  # log 0: finite, so that 0 * LOG_ZERO is 0
NEGLIGIBLE = -46.0  # logarithm of what is taken as 0 in the search; bounds do not leave it out

STEPS, SWEEPS, HALVINGS = 40, 60, 12  # of Newton's method, within a step, of a step's length
MASS = 1e-10  # of a support point that is dropped
RIDGE, CONVERGED = 1e-9, 1e-6
LEAST_MEAN, SPREAD = 1e-9, 1e-3  # of a row, below which mass is spread over the grid


@compiled
def log_or_zero(x):  # type: ignore[no-untyped-def]
    """Return log x, or LOG_ZERO for 0."""
    return math.log(x) if x > 0 else LOG_ZERO


@compiled
def tilt(kind, theta, c):  # type: ignore[no-untyped-def]
    """Return U(theta)."""
    if kind == OUTSIDE:
        return max(theta - c, 0.0)
    if kind == INSIDE:
        return max(c - theta, 0.0)
    return 0.0


@compiled
def log_likelihoods(right, wrong, theta, questions):  # type: ignore[no-untyped-def]
    """Return (G, M) logs of theta^s (1 - theta)^f.

    questions  0; or how many there are in the set that accuracy means, of which a worker of
               accuracy theta gets theta * questions right, asked in random order, each once
    """
    result = np.empty((right.size, theta.size))
    for j in range(theta.size):
        log_p, log_q = log_or_zero(theta[j]), log_or_zero(1 - theta[j])
        good = math.floor(theta[j] * questions + 0.5)
        for g in range(right.size):
            if questions == 0:
                result[g, j] = right[g] * log_p + wrong[g] * log_q
            else:
                result[g, j] = _log_falling(good, right[g])
                result[g, j] += _log_falling(questions - good, wrong[g])
                result[g, j] -= _log_falling(questions, right[g] + wrong[g])
    return result


@compiled
def _log_falling(m, s):  # type: ignore[no-untyped-def]
    """Return the log of m (m - 1) ... (m - s + 1)."""
    return math.lgamma(m + 1.0) - math.lgamma(m - s + 1.0) if s <= m else LOG_ZERO


@compiled
def tilted(logs, kinds, theta, lam, c, rows, scale):  # type: ignore[no-untyped-def]
    """Fill rows (G, M) with a(theta) over its largest value, whose log goes to scale (G,)."""
    over = np.empty((3, theta.size))
    for kind in range(3):
        for j in range(theta.size):
            over[kind, j] = lam * tilt(kind, theta[j], c)
    for g in range(logs.shape[0]):
        one, most = over[kinds[g]], -np.inf
        for j in range(theta.size):
            most = max(most, logs[g, j] + one[j])
        scale[g] = most
        for j in range(theta.size):
            value = logs[g, j] + one[j] - most
            rows[g, j] = math.exp(value) if value > NEGLIGIBLE else 0.0


@compiled_sums
def fit(rows, x, result):  # type: ignore[no-untyped-def]
    """Fill result (G,) with the mean of each row (G, M) under the population x (M,)."""
    for g in range(rows.shape[0]):
        row, total = rows[g], 0.0
        for j in range(row.size):
            total += row[j] * x[j]
        result[g] = total


@compiled_sums
def slopes(rows, weight, result):  # type: ignore[no-untyped-def]
    """Fill result (M,) with the sum of the rows (G, M), times their weights (G,)."""
    for j in range(result.size):
        result[j] = 0.0
    for g in range(rows.shape[0]):
        row, w = rows[g], weight[g]
        for j in range(row.size):
            result[j] += w * row[j]


@compiled
def log_mean(mean, pool):  # type: ignore[no-untyped-def]
    """Return what a worker adds to the logarithm, given the mean of their row, with two slopes.

    pool  0 for one population: log mean. Else the number n of workers of a fixed pool, whose row
          has largest value 1: log b(n mean), the bound on permanents (docs/universal.md, 6).

    Returns it, its derivative, and the negative of its second derivative.
    """
    if pool == 0:
        return math.log(mean), 1 / mean, 1 / (mean * mean)
    r = pool * mean
    below = math.floor(r)
    low = _root_of_factorial(below)
    rise = _root_of_factorial(below + 1) - low
    height = low + (r - below) * rise
    first = pool * rise / height
    return math.log(height), first, first * first


@compiled
def _root_of_factorial(k):  # type: ignore[no-untyped-def]
    """Return (k!)^(1/k), and 0 for 0."""
    return math.exp(math.lgamma(k + 1.0) / k) if k > 0 else 0.0


@compiled
def climb(rows, workers, x, cost, pool, tolerance):  # type: ignore[no-untyped-def]
    """Move the population x (M,) to the maximum of sum workers * log_mean(rows @ x) - cost @ x.

    Returns that sum. It is at most ``tolerance`` below the maximum over populations on the grid,
    unless Newton's steps do not suffice: it is a hint, and the bound is proved elsewhere.
    """
    size, total = x.size, workers.sum()
    mean, part, slope = np.empty(rows.shape[0]), np.empty(rows.shape[0]), np.empty(size)
    tried = np.empty(size)
    fit(rows, x, mean)
    if mean.min() < LEAST_MEAN:
        for j in range(size):
            x[j] = (1 - SPREAD) * x[j] + SPREAD / size
        fit(rows, x, mean)
    value = _value(mean, workers, pool) - dot_product(cost, x)
    for _ in range(STEPS):
        for g in range(mean.size):
            part[g] = workers[g] * log_mean(mean[g], pool)[1] / total
        slopes(rows, part, slope)
        for j in range(size):
            slope[j] -= cost[j] / total
        level = dot_product(slope, x)
        if total * (slope.max() - level) < tolerance:
            break
        active = _active(x, slope, level)
        y = _newton(rows, workers, mean, x, slope - level, active, total, pool)
        step, before = 1.0, value
        for _ in range(HALVINGS):
            _moved(x, y, active, step, tried)
            fit(rows, tried, mean)
            value = _value(mean, workers, pool) - dot_product(cost, tried)
            if value > before:
                break
            step *= 0.5
        if not value > before:
            return before
        for j in range(size):
            x[j] = tried[j]
    return value


@compiled
def _moved(x, y, active, step, result):  # type: ignore[no-untyped-def]
    """Fill result with the population so far on the way from x to y (A,)."""
    mass = 0.0
    for j in range(x.size):
        result[j] = 0.0
    for k in range(active.size):
        j = active[k]
        moved = x[j] + step * (y[k] - x[j])
        result[j] = moved if moved > MASS else 0.0
        mass += result[j]
    for k in range(active.size):
        result[active[k]] /= mass


@compiled
def _value(mean, workers, pool):  # type: ignore[no-untyped-def]
    total = 0.0
    for g in range(mean.size):
        total += workers[g] * log_mean(mean[g], pool)[0] if mean[g] > 0 else -1e300
    return total


@compiled
def _active(x, slope, level):  # type: ignore[no-untyped-def]
    """Return the support of x, and the local maxima of the slope that lie above its mean."""
    keep = np.zeros(x.size, np.bool_)
    for j in range(x.size):
        lower = slope[j - 1] if j > 0 else -np.inf
        upper = slope[j + 1] if j + 1 < x.size else -np.inf
        keep[j] = x[j] > 0 or (slope[j] > level and slope[j] >= lower and slope[j] >= upper)
    return np.flatnonzero(keep)


@compiled
def _newton(rows, workers, mean, x, rise, active, total, pool):  # type: ignore[no-untyped-def]
    """Return the maximum y >= 0 (A,) of the quadratic model around x."""
    size, count = active.size, rows.shape[0]
    part, curvature = np.empty((size, count)), np.empty((size, size))
    for g in range(count):
        root = math.sqrt(workers[g] * log_mean(mean[g], pool)[2] / total)
        for k in range(size):
            part[k, g] = rows[g, active[k]] * root
    for k in range(size):
        for m in range(k + 1):
            curvature[k, m] = curvature[m, k] = dot_product(part[k], part[m])
        curvature[k, k] += RIDGE
    # The mass stays about 1, also where no row bends the sum.
    curvature += 1.0
    y, gradient = np.empty(size), np.empty(size)
    for k in range(size):
        y[k], gradient[k] = x[active[k]], -rise[active[k]]
    for _ in range(SWEEPS):
        most = 0.0
        for k in range(size):
            new = max(y[k] - gradient[k] / curvature[k, k], 0.0)
            change = new - y[k]
            if change != 0.0:
                y[k] = new
                most = max(most, abs(change))
                for m in range(size):
                    gradient[m] += change * curvature[m, k]
        if most < CONVERGED:
            break
    return y

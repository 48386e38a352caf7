"""The likeliest population, by damped Newton steps.

Compiled: every judgement climbs anew, in a handful of steps too small for numpy to be quick. Plain
loops only: one assignment of an array to another takes seconds to compile.
"""

import numpy as np

from topk.compiled import compiled, dot_product

NEWTON_STEPS, SCALES = 40, (1.0, 0.5, 0.25, 0.1, 0.03, 0.01)
LONGEST = 2.5  # of a step, in any direction
NEAR = 0.01  # a gain of the log posterior that ends the climb
TINY = 1e-300


@compiled
def climb_to_mode(like, workers, basis, flat, prior, x, curvature):  # type: ignore[no-untyped-def]
    """Move a population x (P,) to the mode of the posterior, and find its curvature (P, P) there.

    like, workers  (G, M), (G,) the tallies' likelihood, and how many workers have each
    basis, flat    (P, M), (M,) of the grid
    prior          its centre (P,), its precision (P,) and the degrees of its bends
    """
    w, slope, tried = np.empty(flat.size), np.empty_like(x), np.empty_like(x)
    tilts = np.empty(basis.shape)
    value, gain = log_posterior(x, like, workers, basis, flat, prior, w), np.inf
    for _ in range(NEWTON_STEPS):
        _score_step(x, like, workers, basis, prior, w, tilts, slope, curvature)
        _newton_step(curvature, slope)
        for scale in SCALES:  # the longest step that climbs
            for j in range(x.size):
                tried[j] = x[j] + scale * slope[j]
            gain = log_posterior(tried, like, workers, basis, flat, prior, w) - value
            if gain > 0:
                break
        if not gain > 0:
            break
        for j in range(x.size):
            x[j] = tried[j]
        value += gain
        if gain < NEAR:
            break
    cell_density(x, basis, flat, w)
    _score_step(x, like, workers, basis, prior, w, tilts, slope, curvature)


@compiled
def log_posterior(x, like, workers, basis, flat, prior, w):  # type: ignore[no-untyped-def]
    """Compute the log posterior of a population (P,), up to a constant; set w (M,) to its cells."""
    cell_density(x, basis, flat, w)
    centre, precision, nu = prior
    total, bent = 0.0, 0.0
    for j in range(x.size):
        off = (x[j] - centre[j]) ** 2 * precision[j]
        if j < 2:
            total -= 0.5 * off
        else:
            bent += off
    total -= 0.5 * (nu + x.size - 2) * np.log1p(bent / nu)
    for g in range(workers.size):
        total += workers[g] * np.log(max(dot_product(like[g], w), TINY))
    return total


@compiled
def cell_density(x, basis, flat, w):  # type: ignore[no-untyped-def]
    """Set w (M,) to the cell probabilities of a population (P,)."""
    mean, conc = 1 / (1 + np.exp(-x[0])), np.exp(x[1])
    upper, wrong = mean * conc, (1 - mean) * conc
    for m in range(w.size):
        w[m] = flat[m] + upper * basis[0, m] + wrong * basis[1, m]
    for j in range(2, x.size):
        for m in range(w.size):
            w[m] += x[j] * basis[j, m]
    most, total = w.max(), 0.0
    for m in range(w.size):
        w[m] = np.exp(w[m] - most)
        total += w[m]
    for m in range(w.size):
        w[m] /= total


@compiled
def log_slopes(x, basis, result):  # type: ignore[no-untyped-def]
    """Set result (P, M) to d log g / d x of a population (P,), up to a constant a row."""
    mean, conc = 1 / (1 + np.exp(-x[0])), np.exp(x[1])
    for m in range(basis.shape[1]):
        for j in range(2, x.size):
            result[j, m] = basis[j, m]
        log_p, log_q = basis[0, m], basis[1, m]
        result[0, m] = conc * mean * (1 - mean) * (log_p - log_q)
        result[1, m] = conc * (mean * log_p + (1 - mean) * log_q)


@compiled
def _score_step(  # type: ignore[no-untyped-def]
    x, like, workers, basis, prior, w, tilts, slope, curvature
):
    """Set the slope (P,) of the log posterior, and its curvature (P, P): outer products of the
    tallies' scores, so always positive.
    """
    log_slopes(x, basis, tilts)
    score, mean = np.empty_like(x), np.empty_like(x)
    for j in range(x.size):
        for m in range(w.size):
            tilts[j, m] *= w[m]
        mean[j] = tilts[j].sum()
    _add_prior(x, prior, slope, curvature)
    for g in range(workers.size):
        fit = dot_product(like[g], w)
        for j in range(x.size):
            score[j] = dot_product(like[g], tilts[j]) / fit - mean[j]
        for j in range(x.size):
            slope[j] += workers[g] * score[j]
            for i in range(x.size):
                curvature[j, i] += workers[g] * score[j] * score[i]


@compiled
def _add_prior(x, prior, slope, curvature):  # type: ignore[no-untyped-def]
    """Set slope and curvature to the prior's: of the Gaussian that pulls as hard as the prior does
    at x.
    """
    centre, precision, nu = prior
    bent = 0.0
    for j in range(2, x.size):
        bent += (x[j] - centre[j]) ** 2 * precision[j]
    curvature.fill(0.0)
    for j in range(x.size):
        pull = precision[j] if j < 2 else precision[j] * (nu + x.size - 2) / (nu + bent)
        curvature[j, j] = pull
        slope[j] = -pull * (x[j] - centre[j])


@compiled
def _newton_step(curvature, slope):  # type: ignore[no-untyped-def]
    """Replace the slope by Newton's step, no longer than LONGEST: elimination, row by row."""
    size = slope.size
    for i in range(size):
        for j in range(i + 1, size):
            by = curvature[j, i] / curvature[i, i]
            slope[j] -= by * slope[i]
            for at in range(i, size):
                curvature[j, at] -= by * curvature[i, at]
    longest = TINY
    for i in range(size - 1, -1, -1):
        for at in range(i + 1, size):
            slope[i] -= curvature[i, at] * slope[at]
        slope[i] /= curvature[i, i]
        longest = max(longest, abs(slope[i]))
    for i in range(size):
        slope[i] *= min(1.0, LONGEST / longest)

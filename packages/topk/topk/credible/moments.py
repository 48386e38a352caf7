"""The border, and the first moments of the mass beyond it; compiled.

Cells are of accuracies, lowest first; w (R, M) are the cells of populations.
"""

import numpy as np

from topk.compiled import compiled


@compiled
def reached_from_above(w, expected, wanted):  # type: ignore[no-untyped-def]
    """Compute (R,) the highest cell from which on w x expected, (R, M), sums up to ``wanted``."""
    last = w.shape[1] - 1
    result = np.full(w.shape[0], last)
    for r in range(w.shape[0]):
        total = 0.0
        for m in range(last, -1, -1):
            total += w[r, m] * expected[r, m]
            if total >= wanted:
                result[r] = m
                break
    return result


@compiled
def mass_beyond(w, theta, borders, sign, begin, end):  # type: ignore[no-untyped-def]
    """Compute (3, R, end - begin) w x distance ** power of the cells above the border (sign 1), or
    below (-1); 0 for the others.
    """
    result = np.empty((3, w.shape[0], end - begin))
    for r in range(w.shape[0]):
        border = theta[borders[r]]
        for m in range(begin, end):
            far = max(sign * (theta[m] - border), 0.0)
            one = w[r, m] * far
            result[0, r, m - begin] = one
            result[1, r, m - begin] = one * far
            result[2, r, m - begin] = one * far * far
    return result


@compiled
def sum_cumulants(sums, norm, workers):  # type: ignore[no-untyped-def]
    """Compute (3, R) mean, variance and third cumulant of a sum over workers.

    sums     (G, 3, R) of each group the first moments, times its norm
    norm     (G, R)
    workers  (G,) number of workers in each
    """
    result = np.zeros((3, norm.shape[1]))
    for g in range(norm.shape[0]):
        for r in range(norm.shape[1]):
            part = 1.0 / norm[g, r]
            one, two, three = sums[g, 0, r] * part, sums[g, 1, r] * part, sums[g, 2, r] * part
            result[0, r] += workers[g] * one
            result[1, r] += workers[g] * (two - one * one)
            result[2, r] += workers[g] * (three - 3 * one * two + 2 * one * one * one)
    return result

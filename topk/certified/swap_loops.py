"""The inner loops of swaps, compiled: docs/certified.md, section 10.

They find what numpy found, to the last bit: nothing is added up in another order.
"""

import numpy as np
from numba import njit

# No number is nan: else the least could not be found by vector instructions.
compiled = njit(cache=True, error_model="numpy", fastmath={"nnan", "nsz"})


@compiled
def least_totals(into, out):  # type: ignore[no-untyped-def]
    """(outside, inside) the least over all rates of what one of each adds up to.

    into, out  (outside, RATES), (inside, RATES)
    """
    result = np.empty((into.shape[0], out.shape[0]))
    for a in range(into.shape[0]):
        for b in range(out.shape[0]):
            one, other, least = into[a], out[b], np.inf
            for rate in range(one.size):
                least = min(least, one[rate] + other[rate])
            result[a, b] = least
    return result


@compiled
def largest_value(reach, against, rates):  # type: ignore[no-untyped-def]
    """(m, RATES) the largest of accuracy - rate * evidence, over all accuracies (10.3).

    reach, against  (m, accuracies) both
    """
    result = np.empty((against.shape[0], rates.size))
    for i in range(against.shape[0]):
        up_to, evidence = reach[i], against[i]
        for j in range(rates.size):
            rate, most = rates[j], -np.inf
            for at in range(evidence.size):
                most = max(most, up_to[at] - rate * evidence[at])
            result[i, j] = most
    return result

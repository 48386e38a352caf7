"""The inner loops of swaps, compiled: docs/certified.md, section 4.

Their results equal numpy's to the last bit: the order of sums is the same.
"""

from functools import partial

import numpy as np

from topk.compiled import compiled

# No number is nan: otherwise the compiler could not use vector instructions for the least.
compiled_least = partial(compiled, fastmath={"nnan", "nsz"})


@compiled_least
def least_totals(into, out):  # type: ignore[no-untyped-def]
    """Return (outside, inside) the least sum of one of each over all rates.

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


@compiled_least
def largest_value(reach, against, rates):  # type: ignore[no-untyped-def]
    """Return (m, RATES) the largest of accuracy - rate * evidence, over all accuracies (4.3).

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

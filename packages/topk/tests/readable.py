"""The sequential algorithms once more, each arm in plain sight: slow, and only to compare with.

Every function takes pulls, means, K and a log term or radii, and gives the arms to pull next and
the gap, as the papers write them.
"""

import math

import numpy as np


def ranked(values):
    """Arms from best to worst, ties by number."""
    return sorted(range(len(values)), key=lambda i: (-values[i], i))


def pair(means, lower_radius, upper_radius, k):
    high = ranked(means)[:k]
    low = [i for i in range(len(means)) if i not in high]
    lower = {i: means[i] - lower_radius[i] for i in high}
    upper = {i: means[i] + upper_radius[i] for i in low}
    h = min(high, key=lambda i: (lower[i], i))
    l = max(low, key=lambda i: (upper[i], -i))  # noqa: E741
    return {h, l}, upper[l] - lower[h]


def ugape(means, radius, pulls, k):
    lower, upper = means - radius, means + radius
    n = len(means)
    bound = [
        sorted((upper[j] for j in range(n) if j != i), reverse=True)[k - 1] - lower[i]
        for i in range(n)
    ]
    chosen = sorted(range(n), key=lambda i: (bound[i], i))[:k]
    rest = [i for i in range(n) if i not in chosen]
    u = max(rest, key=lambda i: (upper[i], radius[i], -i))
    l = min(chosen, key=lambda i: (lower[i], -radius[i], i))  # noqa: E741
    return {l if radius[l] > radius[u] else u}, max(bound[i] for i in chosen), set(chosen)


def sets(means, radius, k):
    first = set(ranked(means)[:k])
    worth = [
        means[i] - radius[i] if i in first else means[i] + radius[i] for i in range(len(means))
    ]
    second = set(ranked(worth)[:k])
    apart = first ^ second
    gap = sum(worth[i] for i in second - first) - sum(worth[i] for i in first - second)
    return ({max(apart, key=lambda i: (radius[i], -i))} if apart else set()), gap


def kl_bisected(mean, level, side):
    """The bound by sixty halvings."""
    inside, outside = mean, (1.0 if side > 0 else 0.0)
    for _ in range(60):
        middle = (inside + outside) / 2
        if divergence(mean, middle) <= level:
            inside = middle
        else:
            outside = middle
    return inside


def divergence(p, q):
    value = 0.0
    if p > 0:
        value += p * math.log(p / q) if q > 0 else math.inf
    if p < 1:
        value += (1 - p) * math.log((1 - p) / (1 - q)) if q < 1 else math.inf
    return value


def kl_pair(means, pulls, level, k):
    lower = np.array([kl_bisected(m, level / t, -1) for m, t in zip(means, pulls, strict=True)])
    upper = np.array([kl_bisected(m, level / t, 1) for m, t in zip(means, pulls, strict=True)])
    return pair(means, means - lower, upper - means, k)

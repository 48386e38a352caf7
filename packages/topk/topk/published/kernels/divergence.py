"""Bounds by the divergence of Bernoulli rewards, and the arm whose bound is farthest."""

# mypy: disable-error-code="no-any-return"
# (numba has no types: what a compiled function calls is Any.)

import math

import numpy as np

from topk.compiled import compiled

from .extremes import larger, smaller
from .layout import (
    EXTRA,
    HIGH,
    HINT_IN,
    HINT_OUT,
    INNER,
    KEY,
    MEAN,
    PULLS,
    SHUT,
    Arms,
    Floats,
    Memo,
)
from .sets import first_above

ALIKE = 1e-9  # bounds about so close are equal


@compiled
def negative_entropy(p: float) -> float:
    """Compute p ln p + (1-p) ln(1-p)."""
    entropy = 0.0
    if p > 0:
        entropy += p * np.log(p)
    if p < 1:
        entropy += (1 - p) * np.log1p(-p)
    return entropy


@compiled
def log_mixture(pulls: float, mean: float) -> float:
    """Average the likelihood of an arm's answers over a uniform accuracy, and take its log."""
    total = pulls * mean
    return math.lgamma(total + 1) + math.lgamma(pulls - total + 1) - math.lgamma(pulls + 2)


@compiled
def mixture_costs(arms: Arms) -> Floats:
    """Measure (n,) how far the log of each arm's mixed likelihood lies below its greatest one."""
    costs = np.zeros(arms.shape[1])
    for i in range(costs.size):
        if arms[PULLS, i] > 0:
            costs[i] = arms[PULLS, i] * arms[EXTRA, i] - arms[INNER, i]
    return costs


@compiled
def pair_evidence(arms: Arms, i: int, j: int) -> float:
    """Compare two arms' mixed likelihoods with their likelihood at the common mean, as a log."""
    pulls = arms[PULLS, i] + arms[PULLS, j]
    total = arms[PULLS, i] * arms[MEAN, i] + arms[PULLS, j] * arms[MEAN, j]
    return arms[INNER, i] + arms[INNER, j] - pulls * negative_entropy(total / pulls)


@compiled
def weakest_pair(arms: Arms) -> tuple[int, int, float]:
    """Find the arms inside and outside that differ least certainly, and their evidence."""
    one, two, least = -1, -1, np.inf
    for i in range(arms.shape[1]):
        if arms[HIGH, i] < 0:
            for j in range(arms.shape[1]):
                if arms[HIGH, j] > 0:
                    evidence = pair_evidence(arms, i, j)
                    if evidence < least:
                        one, two, least = i, j, evidence
    return one, two, least


@compiled
def kl_upper(mean: float, level: float) -> float:
    """Find the largest q with d(mean, q) <= level, by Newton's steps.

    d is convex in q, so the steps come down to the root from the right, to rounding.
    """
    if mean >= 1:
        return 1.0
    if mean <= 0:
        return -np.expm1(-level)
    entropy = negative_entropy(mean)
    # Right of the root: Pinsker, and d(m, q) >= entropy - (1-m) ln(1-q).
    most = min(mean + np.sqrt(level / 2), -np.expm1((entropy - level) / (1 - mean)))
    q = min(most, mean + np.sqrt(2 * mean * (1 - mean) * level) + level)
    for _ in range(60):
        if q >= 1:
            return 1.0
        excess = entropy - mean * np.log(q) - (1 - mean) * np.log1p(-q) - level
        step = excess * q * (1 - q) / (q - mean)
        q = min(q - step, most)
        if abs(step) < 1e-13:
            break
    return q


@compiled
def kl_bound(mean: float, level: float, side: int) -> float:
    """Find the upper bound for side 1, the lower for side -1."""
    return kl_upper(mean, level) if side > 0 else 1 - kl_upper(1 - mean, level)


@compiled
def kl_bounds(means: Floats, levels: Floats, side: int) -> Floats:
    """Compute ``kl_bound`` of every arm; means and levels (n,)."""
    bounds = np.empty(means.size)
    for i in range(means.size):
        bounds[i] = kl_bound(means[i], levels[i], side)
    return bounds


@compiled
def kl_reaches(arms: Arms, level: float, point: float, side: int) -> float:
    """Set key to how far beyond the point an arm's bound lies, about; -inf off the side. Return the
    most.

    Newton's step from the point: exact in its sign, because the bound lies beyond just when T
    d(mean, point) < level. No logarithm per arm: the divergence is linear in the stored terms.
    """
    log_p, log_q = np.log(max(point, 1e-300)), np.log(max(1 - point, 1e-300))
    greatest = -np.inf
    pulls, means, entropy, key = arms[PULLS], arms[MEAN], arms[EXTRA], arms[KEY]
    high, shut = arms[HIGH], arms[SHUT]
    for i in range(means.size):
        mean, away = means[i], side * (point - means[i])
        # depth = T d(mean, point). Newton's step from the point towards T d(mean, q) = level: the
        # slope is T (point - mean) / (point (1 - point)), its divisor left out as common to all.
        depth = pulls[i] * (entropy[i] - mean * log_p - (1 - mean) * log_q)
        reach = (level - depth) / (pulls[i] * larger(away, 1e-300) + 1e-300)
        # A mean beyond the point is beyond it without any bound, where Newton's step has no sense.
        reach = 1.0 - away if away < 0 else reach
        # side * high is +inf on the side that is looked at, -inf on the other; shut arms are out.
        reach = smaller(reach, side * high[i]) - shut[i]
        key[i] = reach
        greatest = larger(greatest, reach)
    return greatest


@compiled
def kl_farthest(arms: Arms, memo: Memo, level: float, side: int) -> tuple[int, float]:
    """Find the open arm of greatest upper bound outside (side 1) or least lower bound inside (-1).

    Starts at the last answer and moves on while some arm's bound lies beyond; ties go by number.
    """
    slot = HINT_IN if side < 0 else HINT_OUT
    point = 0.5 - side * 0.5  # beyond this lies every bound
    arm, hint = -1, int(memo[slot])
    if side * arms[HIGH, hint] > 0 and arms[SHUT, hint] == 0:
        arm, point = hint, kl_bound(arms[MEAN, hint], level / arms[PULLS, hint], side)
    reach = kl_reaches(arms, level, point, side)
    while reach > ALIKE:
        other = first_above(arms[KEY], reach)
        farther = kl_bound(arms[MEAN, other], level / arms[PULLS, other], side)
        if arm >= 0 and side * (farther - point) <= 0:
            break
        arm, point = other, farther
        reach = kl_reaches(arms, level, point, side)
    # Of all bounds that equal the farthest, to rounding, take the first arm.
    tied = first_above(arms[KEY], -ALIKE)
    arm = min(arm, tied) if arm >= 0 and tied >= 0 else max(arm, tied)
    memo[slot] = max(arm, 0)
    return arm, point

"""Looks: the arms that keep an algorithm from stopping, and the gap; one function for each
sampling.
"""

# mypy: disable-error-code="no-any-return"
# (numba has no types: what a compiled function calls is Any.)

import numpy as np

from topk.compiled import compiled

from .divergence import kl_farthest, pair_evidence, weakest_pair
from .extremes import larger, smaller
from .layout import (
    BERNSTEIN,
    CHOSEN,
    COIN,
    EXTRA,
    GAPS,
    HIGH,
    INDEX,
    INNER,
    KEY,
    KL,
    LOWER,
    MEAN,
    MOST_PULLED,
    OTHER,
    OUTER,
    PAIR,
    PAIRS,
    SETS,
    SHUT,
    TOTAL,
    UPPER,
    Arms,
    Memo,
    Strategy,
)
from .radii import log_term, scale_of, spread
from .sets import MOST_SWAPS, first, first_above, mend, settle, sort_out


@compiled
def edges(arms: Arms, scale: float) -> tuple[float, float, float, float]:
    """Set key to lower bounds inside and upper ones outside; return its ends and those of the
    means.
    """
    low, high, worst, best = np.inf, -np.inf, np.inf, -np.inf
    means, inner, outer, key = arms[MEAN], arms[INNER], arms[OUTER], arms[KEY]
    sides, shuts = arms[HIGH], arms[SHUT]
    for i in range(means.size):
        mean, side, shut = means[i], sides[i], shuts[i]
        lower, upper = mean - scale * inner[i] + shut, mean + scale * outer[i] - shut
        # A shut arm has a lower bound of +inf and an upper one of -inf: never the end of a side.
        key[i] = lower if side < 0 else upper
        low, high = smaller(low, larger(lower, side)), larger(high, smaller(upper, side))
        worst, best = smaller(worst, larger(mean, side)), larger(best, smaller(mean, side))
    return low, high, worst, best


@compiled
def look_pair(strategy: Strategy, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """Find h, the least lower bound of the K best means, and l, the greatest upper bound of the
    rest.

    Kalyanakrishnan 2012, section 3; Jiang 2017, Algorithm 1. The gap is U_l - L_h.
    """
    scale, swaps = scale_of(strategy, arms, memo), 0
    # One pass finds the bounds' ends and checks the set; mostly it still holds, because a pull
    # moves one mean a little.
    low, high, worst, best = edges(arms, scale)
    while mend(arms[MEAN], arms[HIGH], worst, best):
        swaps += 1
        if swaps == MOST_SWAPS:
            sort_out(arms[MEAN], arms[HIGH], strategy.k)
        low, high, worst, best = edges(arms, scale)
    h = first(arms[KEY], low, arms[HIGH], -np.inf) if low < np.inf else -1
    l = first(arms[KEY], high, arms[HIGH], np.inf) if high > -np.inf else -1  # noqa: E741
    return h, l, high - low


@compiled
def look_kl(strategy: Strategy, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """Look as ``look_pair``, by Kaufmann 2013: beta = z + ln z, z = ln(k1 n t^a / delta)."""
    settle(arms[MEAN], arms[HIGH], strategy.k)
    z = log_term(strategy, arms, memo)
    level = z + np.log(z)
    h, low = kl_farthest(arms, memo, level, -1)
    l, high = kl_farthest(arms, memo, level, 1)  # noqa: E741
    return h, l, high - low


@compiled
def look_pairs(strategy: Strategy, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """Look as ``look_kl`` while its two arms are undecided; then return the least certain pair.

    The gap is what the evidence of that pair lacks to the threshold.
    """
    settle(arms[MEAN], arms[HIGH], strategy.k)
    level = log_term(strategy, arms, memo)
    h, _ = kl_farthest(arms, memo, level, -1)
    l, _ = kl_farthest(arms, memo, level, 1)  # noqa: E741
    if h >= 0 and l >= 0:
        lacking = strategy.log_inner - pair_evidence(arms, h, l)
        if lacking > 0:
            return h, l, lacking
    one, two, evidence = weakest_pair(arms)
    one = one if arms[SHUT, one] == 0 else -1
    two = two if arms[SHUT, two] == 0 else -1
    if one < 0 and two < 0:
        one, two = h, l
    return one, two, strategy.log_inner - evidence


@compiled
def spread_even(arms: Arms, scale: float, second: float) -> tuple[float, float]:
    """Set lower, upper = mean -+ one radius for both sides; return the ends of upper against
    ``OTHER``.
    """
    least, greatest = np.inf, -np.inf
    means, inner, extra, sides = arms[MEAN], arms[INNER], arms[EXTRA], arms[OTHER]
    lower, upper = arms[LOWER], arms[UPPER]
    for i in range(means.size):
        mean, side = means[i], sides[i]
        radius = scale * inner[i] + second * extra[i]
        high = mean + radius
        lower[i] = mean - radius
        upper[i] = high
        least, greatest = smaller(least, larger(high, side)), larger(greatest, smaller(high, side))
    return least, greatest


@compiled
def gap_edges(arms: Arms, step: float) -> tuple[float, float, float, float]:
    """Set key to lower + step for arms in ``OTHER``; return its ends, and the bounds' by
    ``CHOSEN``.
    """
    worst, best, low, high = np.inf, -np.inf, np.inf, -np.inf
    lowers, uppers, key = arms[LOWER], arms[UPPER], arms[KEY]
    among, sides, shuts = arms[OTHER], arms[CHOSEN], arms[SHUT]
    for i in range(key.size):
        lower, side, shut = lowers[i], sides[i], shuts[i]
        raised = lower + step
        value = raised if among[i] < 0 else lower
        key[i] = value
        worst, best = smaller(worst, larger(value, side)), larger(best, smaller(value, side))
        low = smaller(low, larger(lower + shut, side))
        high = larger(high, smaller(uppers[i] - shut, side))
    return worst, best, low, high


@compiled
def look_gaps(strategy: Strategy, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """Find the wider of u, the greatest upper bound outside J, and l, the least lower bound in it.

    Gabillon 2012, section 3. B_k is the K-th largest upper bound among the *other* arms less L_k:
    the (K+1)-th of all for an arm among the K largest, the K-th for the rest. J, the K arms of
    least B, is ``CHOSEN``; key = (K-th of all) - B_k. The gap is B_J.
    """
    scale, swaps = scale_of(strategy, arms, memo), 0
    # OTHER: the K largest upper bounds. One swap nearly always mends it; settle does the rest.
    kth, next_one = spread_even(arms, scale, scale * scale if strategy.radius == BERNSTEIN else 0.0)
    if mend(arms[UPPER], arms[OTHER], kth, next_one):
        kth, next_one = settle(arms[UPPER], arms[OTHER], strategy.k)
    # kth - B_k = L_k + (kth - rival): a step of kth - next_one for arms in OTHER, whose rival is
    # the next one, and none for the rest. The largest of it are the least B.
    worst, best, low, high = gap_edges(arms, kth - next_one)
    while mend(arms[KEY], arms[CHOSEN], worst, best):
        swaps += 1
        if swaps == MOST_SWAPS:
            sort_out(arms[KEY], arms[CHOSEN], strategy.k)
        worst, best, low, high = gap_edges(arms, kth - next_one)
    # The paper gives ties to the larger radius; but bounds tie only if radii are the same.
    u = first_open(arms, UPPER, high, np.inf) if high > -np.inf else -1
    l = first_open(arms, LOWER, low, -np.inf) if low < np.inf else -1  # noqa: E741
    if u < 0 or (l >= 0 and arms[UPPER, l] - arms[LOWER, l] > arms[UPPER, u] - arms[LOWER, u]):
        return l, -1, kth - worst
    return u, -1, kth - worst


@compiled
def first_open(arms: Arms, row: int, value: float, side: float) -> int:
    """Find the first arm that may be pulled with this value in this row, on this side of
    ``CHOSEN``.
    """
    arm = first(arms[row], value, arms[CHOSEN], side)
    if arm >= 0 and arms[SHUT, arm] > 0:
        for i in range(arm + 1, arms.shape[1]):
            if arms[row, i] == value and arms[CHOSEN, i] == side and arms[SHUT, i] == 0:
                return i
        return -1
    return arm


@compiled
def look_sets(strategy: Strategy, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """Compare M, the K best means, with M~, the K best with M judged at its worst and the rest at
    best.

    Chen 2014, Algorithm 1; Jiang 2017, Algorithm 2. The gap is w(M~) - w(M): values, not sets.
    """
    settle(arms[MEAN], arms[HIGH], strategy.k)
    spread(strategy, arms, memo)
    for i in range(arms.shape[1]):
        arms[KEY, i] = arms[LOWER, i] if arms[HIGH, i] < 0 else arms[UPPER, i]
    settle(arms[KEY], arms[OTHER], strategy.k)
    gap, arm = 0.0, -1
    for i in range(arms.shape[1]):
        # Only arms in one set and not in the other: common arms cancel out of w(M~) - w(M).
        if arms[HIGH, i] != arms[OTHER, i]:
            gap += arms[KEY, i] if arms[OTHER, i] < 0 else -arms[KEY, i]
            if arms[SHUT, i] == 0 and (arm < 0 or arms[INNER, i] > arms[INNER, arm]):
                arm = i
    return arm, -1, gap


@compiled
def look_index(strategy: Strategy, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """Find the greatest upper bound, until one arm outweighs all others: lil'UCB (Jamieson 2014).

    The gap is how much of T_i >= 1 + lambda (pulls of the others) is still lacking.
    """
    high = -np.inf
    for i in range(arms.shape[1]):
        value = arms[MEAN, i] + arms[OUTER, i] - arms[SHUT, i]
        arms[KEY, i] = value
        high = larger(high, value)
    arm = first_above(arms[KEY], high) if high > -np.inf else -1
    needed = 1 + strategy.dominance * (memo[TOTAL] - memo[MOST_PULLED])
    return arm, -1, max(0.0, 1 - memo[MOST_PULLED] / needed)


@compiled
def look_gap_index(strategy: Strategy, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """Find the arm of greatest radius less empirical gap: Gap-E for K arms."""
    scale = scale_of(strategy, arms, memo)
    kth, next_one = settle(arms[MEAN], arms[HIGH], strategy.k)
    high = -np.inf
    for i in range(arms.shape[1]):
        mean, radius = arms[MEAN, i], scale * arms[INNER, i] - arms[SHUT, i]
        gap = mean - next_one if arms[HIGH, i] < 0 else kth - mean
        arms[KEY, i] = radius - gap
        high = larger(high, radius - gap)
    return first_above(arms[KEY], high) if high > -np.inf else -1, -1, 1.0


@compiled
def look(strategy: Strategy, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """Find one or two arms that keep the algorithm from stopping (-1: none), and its gap."""
    if strategy.sampling == PAIR or strategy.sampling == COIN:
        return look_pair(strategy, arms, memo)
    if strategy.sampling == GAPS:
        return look_gaps(strategy, arms, memo)
    if strategy.sampling == KL:
        return look_kl(strategy, arms, memo)
    if strategy.sampling == PAIRS:
        return look_pairs(strategy, arms, memo)
    if strategy.sampling == SETS:
        return look_sets(strategy, arms, memo)
    if strategy.sampling == INDEX:
        return look_index(strategy, arms, memo)
    return look_gap_index(strategy, arms, memo)

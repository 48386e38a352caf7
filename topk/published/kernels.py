"""The inner loop of every algorithm that looks at each answer: one definition, compiled.

``look`` names the arms an algorithm would pull and how far it is from stopping. The live selectors
(``plan``) and the simulator (``run``) call the same ``look``, so that what is simulated is what is
run. Every pass over the arms is plain arithmetic without branches, which the compiler turns into
vector instructions; sets such as "the K best means" are kept from call to call and mended where
they no longer hold.

All of it lives in one file because numba's disk cache notices a change in the file of the compiled
function only, not in those it calls.

Comments name papers by their first author: Kalyanakrishnan 2012 (LUCB1), Gabillon 2012 (UGapE),
Kaufmann 2013 (KL-LUCB), Chen 2014 (CLUCB), Jamieson 2014 (lil'), Jiang 2017 (lil'RandLUCB).
"""

# mypy: disable-error-code="no-any-return"
# (numba has no types: what a compiled function calls is Any.)

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
# A set of arms is an array of sides, -inf for an arm inside and +inf outside: max(value, side) is
# then the value inside and +inf outside, min(value, side) the value outside and -inf inside,
# without a branch.
Sides = NDArray[np.float64]
# The board: a row for each thing known of every arm, as numbers in one array, which costs a call
# less than many arrays do. INNER and OUTER are an arm's radius over the common scale when it is
# inside the set chosen and outside of it; EXTRA is the second term of Bernstein's radius, or the
# negative entropy of the mean for KL; SHUT is 0, or infinity for an arm that may not be pulled.
Arms = NDArray[np.float64]
PULLS, REWARDS, MEAN, INNER, OUTER, EXTRA, LOWER, UPPER, KEY, SHUT = range(10)
# Sets: the K best means, the K best by another measure (upper bounds in UGapE, pessimism in CLUCB),
# UGapE's J, and the J of least bound so far.
HIGH, OTHER, CHOSEN, BEST = range(10, 14)
ROWS = 14
# What is known of all arms together: pulls, the most of one arm, the least bound of a J so far, and
# the arms at which the last searches ended.
Memo = NDArray[np.float64]
TOTAL, MOST, RECORD, HINT_IN, HINT_OUT = range(5)

# How an algorithm samples.
PAIR, COIN, GAPS, SETS, INDEX, GAP_INDEX, KL = range(7)
# Where its radius comes from.
CLOCK, ITERATED, EXPLORATION, ADAPTIVE, BERNSTEIN, DIVERGENCE = range(6)

UNPULLED = 1e6  # the radius of an arm without a pull: beyond any reward, and finite
MOST_SWAPS = 8  # so many repairs of a set cost about as much as sorting it anew
SHARE = 32  # of many slots, one look spends about this part
ALIKE = 1e-9  # KL bounds about so close are equal

# Dividing by zero gives infinity, as in numpy: a check would keep loops from vectorising.
compiled = njit(cache=True, error_model="numpy")


class Rule(NamedTuple):
    """One algorithm on one problem, in numbers.

    sampling, radius   which of the above
    k                  arms to select
    warm               pulls of each arm before any is compared
    slack, strict      stop when the gap is below slack, or at most slack if not strict
    log_constant       the logarithm in the radius is this ...
    log_power          ... plus this many times the logarithm of the clock
    tick               pulls that make one round of the clock
    exploration        a of UGapEb and Gap-E; a multiplier when adaptive
    accuracy           epsilon, where it enters the adaptive exploration
    budget             pulls in all, where the radius depends on it
    growth             e of the iterated-logarithm radius
    width              its factor before the root
    log_inner/_outer   ln(1/w) for arms inside the set chosen, and outside of it
    dominance          lambda of lil'UCB
    """

    sampling: int
    radius: int
    k: int
    warm: int
    slack: float
    strict: bool
    log_constant: float
    log_power: float
    tick: int
    exploration: float
    accuracy: float
    budget: int
    growth: float
    width: float
    log_inner: float
    log_outer: float
    dominance: float


def board(pulls: Counts, rewards: Floats, means: Floats, k: int) -> tuple[Arms, Memo]:
    """A board of its own for these counts; sets start anywhere and are mended when looked at."""
    arms, memo = np.zeros((ROWS, pulls.size)), np.zeros(5)
    arms[PULLS], arms[REWARDS], arms[MEAN] = pulls, rewards, means
    arms[HIGH:ROWS] = np.where(np.arange(pulls.size) < k, -np.inf, np.inf)
    memo[RECORD] = np.inf
    return arms, memo


def _extreme(operation: str) -> Any:
    """The smaller (larger) of two numbers that are not nan, in a form the vectoriser knows."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double, double])
        function = builder.module.declare_intrinsic(f"llvm.{operation}", [double], kind)
        return builder.call(function, arguments, fastmath=("nnan", "nsz"))

    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        return types.float64(types.float64, types.float64), build

    return intrinsic(typed)


smaller = _extreme("minnum")
larger = _extreme("maxnum")


# -- sets of K arms


@compiled
def ends(key: Floats, sides: Sides) -> tuple[float, float]:
    """The least key inside and the greatest outside."""
    least, greatest = np.inf, -np.inf
    for i in range(key.size):
        least = smaller(least, larger(key[i], sides[i]))
        greatest = larger(greatest, smaller(key[i], sides[i]))
    return least, greatest


@compiled
def first(key: Floats, value: float, sides: Sides, side: float) -> int:
    """The first arm of this key on this side, or -1: the least number, all others made infinite."""
    towards, found = -1.0 if side > 0 else 1.0, np.inf
    for i in range(key.size):
        number = i + abs(key[i] - value) * 1e300
        found = smaller(found, larger(number, towards * sides[i]))
    return int(found) if found < key.size else -1


@compiled
def last(key: Floats, value: float, sides: Sides, side: float) -> int:
    for i in range(key.size - 1, -1, -1):
        if key[i] == value and sides[i] == side:
            return i
    return -1


@compiled
def mend(key: Floats, sides: Sides, least: float, greatest: float) -> bool:
    """Exchange the worst inside for the best outside if it is better; ties go by number."""
    if least > greatest:
        return False
    worst, best = last(key, least, sides, -np.inf), first(key, greatest, sides, np.inf)
    if least == greatest and worst < best:
        return False
    sides[worst], sides[best] = np.inf, -np.inf
    return True


@compiled
def around(key: Floats, point: float) -> tuple[int, float, float]:
    """How many keys are at least this, the least of them, and the greatest of the others."""
    above, least, greatest = 0, np.inf, -np.inf
    for i in range(key.size):
        value = key[i]
        above += value >= point
        least = smaller(least, value if value >= point else np.inf)
        greatest = larger(greatest, -np.inf if value >= point else value)
    return above, least, greatest


@compiled
def kth_largest(key: Floats, k: int) -> float:
    """By bisection between keys: a few passes, where sorting would need many."""
    # At least k keys lie at or above low, fewer at or above high; greatest is the last below high.
    _, low, _ = around(key, -np.inf)
    _, _, greatest = around(key, np.inf)
    while greatest > low:
        middle = low + (greatest - low) / 2
        middle = middle if middle > low else greatest
        above, least, below = around(key, middle)
        if above >= k:
            low = least
        else:
            greatest = below
    return low


@compiled
def sort_out(key: Floats, sides: Sides, k: int) -> None:
    """Choose the K arms of largest key from scratch; of equal keys the first."""
    kth = kth_largest(key, k)
    places = k
    for i in range(key.size):
        sides[i] = -np.inf if key[i] > kth else np.inf
        places -= key[i] > kth
    for i in range(key.size):
        if places > 0 and key[i] == kth:
            sides[i] = -np.inf
            places -= 1


@compiled
def settle(key: Floats, sides: Sides, k: int) -> tuple[float, float]:
    """Make ``sides`` the K arms of largest key; the K-th and the next key."""
    swaps = 0
    least, greatest = ends(key, sides)
    while mend(key, sides, least, greatest):
        swaps += 1
        if swaps == MOST_SWAPS:
            sort_out(key, sides, k)
        least, greatest = ends(key, sides)
    return least, greatest


# -- radii


@compiled
def log_term(rule: Rule, arms: Arms, memo: Memo) -> float:
    """log_constant + log_power ln t, t the clock, never less than the pulls of any arm.

    Under the paper's own sampling t is the paper's; under batches the second keeps u <= t, which
    the union bounds need.
    """
    clock = memo[TOTAL]
    if rule.tick == 2:
        clock = max(1 + (memo[TOTAL] - arms.shape[1] + 1) // 2, memo[MOST])
    return rule.log_constant + rule.log_power * np.log(max(clock, 1.0))


@compiled
def lil_part(rule: Rule, pulls: int, log_rate: float) -> float:
    """U(T, w) of Jamieson 2014 with ln((1+e)T + 2), the form Jiang 2017 ran; log_rate = ln 1/w."""
    inner = np.log(np.log((1 + rule.growth) * pulls + 2)) + log_rate
    return rule.width * np.sqrt(inner / pulls)


@compiled
def refresh(rule: Rule, arms: Arms, i: int) -> None:
    """Bring one arm's part of the radius up to date with its pulls and mean."""
    pulls, mean = arms[PULLS, i], arms[MEAN, i]
    if pulls == 0:
        arms[INNER, i] = arms[OUTER, i] = UNPULLED
    elif rule.radius == ITERATED:
        arms[INNER, i] = lil_part(rule, pulls, rule.log_inner)
        arms[OUTER, i] = lil_part(rule, pulls, rule.log_outer)
    elif rule.radius == BERNSTEIN and pulls > 1:
        # Unbiased variance of 0/1 rewards, and at least that of any others in [0, 1].
        arms[INNER, i] = arms[OUTER, i] = np.sqrt(2 * mean * (1 - mean) / (pulls - 1))
        arms[EXTRA, i] = 7 / (3 * (pulls - 1))
    elif rule.radius == BERNSTEIN:
        arms[INNER, i] = arms[OUTER, i] = UNPULLED
    elif rule.radius == DIVERGENCE:
        arms[EXTRA, i] = negative_entropy(mean)
    else:
        arms[INNER, i] = arms[OUTER, i] = 1 / np.sqrt(pulls)


@compiled
def refresh_all(rule: Rule, arms: Arms, memo: Memo) -> None:
    memo[TOTAL], memo[MOST] = 0, 0
    for i in range(arms.shape[1]):
        memo[TOTAL] += arms[PULLS, i]
        count(rule, arms, memo, i, 0)


@compiled
def hardness(rule: Rule, arms: Arms) -> float:
    """H of UGapE from the gaps of the means plus 1/sqrt(2T): sum of max((gap+eps)/2, eps)^-2."""
    kth, next_one = settle(arms[MEAN], arms[HIGH], rule.k)
    total = 0.0
    for i in range(arms.shape[1]):
        rival = next_one if arms[HIGH, i] < 0 else kth
        gap = abs(arms[MEAN, i] - rival) + arms[INNER, i] * np.sqrt(0.5)
        total += max((gap + rule.accuracy) / 2, rule.accuracy) ** -2
    return total


@compiled
def scale_of(rule: Rule, arms: Arms, memo: Memo) -> float:
    """What every arm's part of the radius is multiplied by now."""
    if rule.radius == CLOCK:
        return np.sqrt(log_term(rule, arms, memo) / 2)
    if rule.radius == BERNSTEIN:
        return np.sqrt(log_term(rule, arms, memo))
    if rule.radius == EXPLORATION:
        return np.sqrt(rule.exploration)
    if rule.radius == ADAPTIVE:
        return np.sqrt(rule.exploration * (rule.budget - arms.shape[1]) / hardness(rule, arms))
    return 1.0


@compiled
def spread(rule: Rule, arms: Arms, memo: Memo) -> None:
    """lower, upper = mean -+ radius, an arm inside the set with its inner part."""
    scale = scale_of(rule, arms, memo)
    mean, lower, upper, extra = arms[MEAN], arms[LOWER], arms[UPPER], arms[EXTRA]
    inner, outer = arms[INNER], arms[OUTER]
    for i in range(mean.size):
        lower[i] = mean[i] - scale * inner[i]
    for i in range(mean.size):  # apart, or the vectoriser gives up on so many arrays
        upper[i] = mean[i] + scale * outer[i]
    if rule.radius == BERNSTEIN:
        for i in range(mean.size):
            lower[i] -= scale * scale * extra[i]
            upper[i] += scale * scale * extra[i]


# -- Bernoulli divergence


@compiled
def negative_entropy(p: float) -> float:
    """p ln p + (1-p) ln(1-p)."""
    entropy = 0.0
    if p > 0:
        entropy += p * np.log(p)
    if p < 1:
        entropy += (1 - p) * np.log1p(-p)
    return entropy


@compiled
def kl_upper(mean: float, level: float) -> float:
    """Largest q with d(mean, q) <= level, by Newton's steps.

    d is convex in q, so that the steps come down to the root from the right, to rounding.
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
    """The upper bound for side 1, the lower for side -1."""
    return kl_upper(mean, level) if side > 0 else 1 - kl_upper(1 - mean, level)


@compiled
def kl_bounds(means: Floats, levels: Floats, side: int) -> Floats:
    """``kl_bound`` of every arm; means and levels (n,)."""
    bounds = np.empty(means.size)
    for i in range(means.size):
        bounds[i] = kl_bound(means[i], levels[i], side)
    return bounds


@compiled
def kl_reaches(arms: Arms, level: float, point: float, side: int) -> float:
    """key = how far beyond the point an arm's bound lies, about; -inf off the side; the greatest.

    Newton's step from the point: exact in its sign, as the bound lies beyond just when
    T d(mean, point) < level. No logarithm per arm: the divergence is linear in what is kept of it.
    """
    log_p, log_q = np.log(max(point, 1e-300)), np.log(max(1 - point, 1e-300))
    greatest = -np.inf
    pulls, means, entropy, key = arms[PULLS], arms[MEAN], arms[EXTRA], arms[KEY]
    high, shut = arms[HIGH], arms[SHUT]
    for i in range(means.size):
        mean, away = means[i], side * (point - means[i])
        depth = pulls[i] * (entropy[i] - mean * log_p - (1 - mean) * log_q)
        reach = (level - depth) / (pulls[i] * larger(away, 1e-300) + 1e-300)
        reach = 1.0 - away if away < 0 else reach
        reach = smaller(reach, side * high[i]) - shut[i]
        key[i] = reach
        greatest = larger(greatest, reach)
    return greatest


@compiled
def kl_farthest(arms: Arms, memo: Memo, level: float, side: int) -> tuple[int, float]:
    """The open arm of greatest upper bound outside (side 1) or least lower bound inside (-1).

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
    tied = first_above(arms[KEY], -ALIKE)
    arm = min(arm, tied) if arm >= 0 and tied >= 0 else max(arm, tied)
    memo[slot] = max(arm, 0)
    return arm, point


@compiled
def first_above(key: Floats, value: float) -> int:
    """The first arm whose key is at least this, or -1."""
    for i in range(key.size):
        if key[i] >= value:
            return i
    return -1


# -- looking: the arms that hold the algorithm up, and by how much


@compiled
def edges(arms: Arms, scale: float) -> tuple[float, float, float, float]:
    """key = lower bound inside, upper outside; the least and greatest of it and of the means."""
    low, high, worst, best = np.inf, -np.inf, np.inf, -np.inf
    means, inner, outer, key = arms[MEAN], arms[INNER], arms[OUTER], arms[KEY]
    sides, shuts = arms[HIGH], arms[SHUT]
    for i in range(means.size):
        mean, side, shut = means[i], sides[i], shuts[i]
        lower, upper = mean - scale * inner[i] + shut, mean + scale * outer[i] - shut
        key[i] = lower if side < 0 else upper
        low, high = smaller(low, larger(lower, side)), larger(high, smaller(upper, side))
        worst, best = smaller(worst, larger(mean, side)), larger(best, smaller(mean, side))
    return low, high, worst, best


@compiled
def look_pair(rule: Rule, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """h, the least lower bound of the K best means, and l, the greatest upper bound of the rest.

    Kalyanakrishnan 2012, section 3; Jiang 2017, Algorithm 1. The gap is U_l - L_h.
    """
    scale, swaps = scale_of(rule, arms, memo), 0
    low, high, worst, best = edges(arms, scale)
    while mend(arms[MEAN], arms[HIGH], worst, best):
        swaps += 1
        if swaps == MOST_SWAPS:
            sort_out(arms[MEAN], arms[HIGH], rule.k)
        low, high, worst, best = edges(arms, scale)
    h = first(arms[KEY], low, arms[HIGH], -np.inf) if low < np.inf else -1
    l = first(arms[KEY], high, arms[HIGH], np.inf) if high > -np.inf else -1  # noqa: E741
    return h, l, high - low


@compiled
def look_kl(rule: Rule, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """As ``look_pair``, bounds of Kaufmann 2013: beta = z + ln z, z = ln(k1 n t^a / delta)."""
    settle(arms[MEAN], arms[HIGH], rule.k)
    z = log_term(rule, arms, memo)
    level = z + np.log(z)
    h, low = kl_farthest(arms, memo, level, -1)
    l, high = kl_farthest(arms, memo, level, 1)  # noqa: E741
    return h, l, high - low


@compiled
def spread_even(arms: Arms, scale: float, second: float) -> tuple[float, float]:
    """lower, upper = mean -+ one radius for both sides; the ends of upper against ``OTHER``."""
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
    """key = lower + step for arms in ``OTHER``; its ends and those of the bounds, by ``CHOSEN``."""
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
def look_gaps(rule: Rule, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """The wider of u, the greatest upper bound outside J, and l, the least lower bound in it.

    Gabillon 2012, section 3. B_k is the K-th largest upper bound among the *other* arms less L_k:
    the (K+1)-th of all for an arm among the K largest, the K-th for the rest. J, the K arms of
    least B, is ``CHOSEN``; key = (K-th of all) - B_k. The gap is B_J.
    """
    scale, swaps = scale_of(rule, arms, memo), 0
    kth, next_one = spread_even(arms, scale, scale * scale if rule.radius == BERNSTEIN else 0.0)
    if mend(arms[UPPER], arms[OTHER], kth, next_one):
        kth, next_one = settle(arms[UPPER], arms[OTHER], rule.k)
    worst, best, low, high = gap_edges(arms, kth - next_one)
    while mend(arms[KEY], arms[CHOSEN], worst, best):
        swaps += 1
        if swaps == MOST_SWAPS:
            sort_out(arms[KEY], arms[CHOSEN], rule.k)
        worst, best, low, high = gap_edges(arms, kth - next_one)
    # The paper gives ties to the larger radius; but bounds tie only where radii are the same.
    u = first_open(arms, UPPER, high, np.inf) if high > -np.inf else -1
    l = first_open(arms, LOWER, low, -np.inf) if low < np.inf else -1  # noqa: E741
    if u < 0 or (l >= 0 and arms[UPPER, l] - arms[LOWER, l] > arms[UPPER, u] - arms[LOWER, u]):
        return l, -1, kth - worst
    return u, -1, kth - worst


@compiled
def first_open(arms: Arms, row: int, value: float, side: float) -> int:
    """The first arm that may be pulled with this value in this row, on this side of ``CHOSEN``."""
    found = first(arms[row], value, arms[CHOSEN], side)
    if found >= 0 and arms[SHUT, found] > 0:
        for i in range(found + 1, arms.shape[1]):
            if arms[row, i] == value and arms[CHOSEN, i] == side and arms[SHUT, i] == 0:
                return i
        return -1
    return found


@compiled
def look_sets(rule: Rule, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """M, the K best means, against M~, the K best with M judged at its worst, the rest at best.

    Chen 2014, Algorithm 1; Jiang 2017, Algorithm 2. The gap is w(M~) - w(M): values, not sets.
    """
    settle(arms[MEAN], arms[HIGH], rule.k)
    spread(rule, arms, memo)
    for i in range(arms.shape[1]):
        arms[KEY, i] = arms[LOWER, i] if arms[HIGH, i] < 0 else arms[UPPER, i]
    settle(arms[KEY], arms[OTHER], rule.k)
    gap, found = 0.0, -1
    for i in range(arms.shape[1]):
        if arms[HIGH, i] != arms[OTHER, i]:
            gap += arms[KEY, i] if arms[OTHER, i] < 0 else -arms[KEY, i]
            if arms[SHUT, i] == 0 and (found < 0 or arms[INNER, i] > arms[INNER, found]):
                found = i
    return found, -1, gap


@compiled
def look_index(rule: Rule, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """lil'UCB (Jamieson 2014): the greatest upper bound, until one arm outweighs all others.

    The gap is how much of T_i >= 1 + lambda (pulls of the others) is still lacking.
    """
    high = -np.inf
    for i in range(arms.shape[1]):
        value = arms[MEAN, i] + arms[OUTER, i] - arms[SHUT, i]
        arms[KEY, i] = value
        high = larger(high, value)
    arm = first_above(arms[KEY], high) if high > -np.inf else -1
    needed = 1 + rule.dominance * (memo[TOTAL] - memo[MOST])
    return arm, -1, max(0.0, 1 - memo[MOST] / needed)


@compiled
def look_gap_index(rule: Rule, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """Gap-E for K arms: the greatest radius less empirical gap."""
    scale = scale_of(rule, arms, memo)
    kth, next_one = settle(arms[MEAN], arms[HIGH], rule.k)
    high = -np.inf
    for i in range(arms.shape[1]):
        mean, radius = arms[MEAN, i], scale * arms[INNER, i] - arms[SHUT, i]
        gap = mean - next_one if arms[HIGH, i] < 0 else kth - mean
        arms[KEY, i] = radius - gap
        high = larger(high, radius - gap)
    return first_above(arms[KEY], high) if high > -np.inf else -1, -1, 1.0


@compiled
def look(rule: Rule, arms: Arms, memo: Memo) -> tuple[int, int, float]:
    """One or two arms that hold the algorithm up (-1: none), and its gap."""
    if rule.sampling == PAIR or rule.sampling == COIN:
        return look_pair(rule, arms, memo)
    if rule.sampling == GAPS:
        return look_gaps(rule, arms, memo)
    if rule.sampling == KL:
        return look_kl(rule, arms, memo)
    if rule.sampling == SETS:
        return look_sets(rule, arms, memo)
    if rule.sampling == INDEX:
        return look_index(rule, arms, memo)
    return look_gap_index(rule, arms, memo)


@compiled
def kept(rule: Rule, gap: float) -> bool:
    return gap < rule.slack if rule.strict else gap <= rule.slack


@compiled
def pick(rule: Rule, arms: Arms, one: int, two: int, rng: np.random.Generator) -> tuple[int, int]:
    """The arms to pull, in rising order; -1 comes last.

    lil'RandLUCB pulls h with probability T_l / (T_h + T_l), else l (Jiang 2017).
    """
    if rule.sampling == COIN and one >= 0 and two >= 0:
        share = arms[PULLS, two] / (arms[PULLS, one] + arms[PULLS, two])
        return (one if rng.random() < share else two), -1
    if two >= 0 and (one < 0 or two < one):
        return two, one
    return one, two


# -- the two loops


@compiled
def count(rule: Rule, arms: Arms, memo: Memo, i: int, pulls: int) -> None:
    arms[PULLS, i] += pulls
    memo[TOTAL] += pulls
    memo[MOST] = max(memo[MOST], arms[PULLS, i])
    refresh(rule, arms, i)


@compiled
def plan(
    rule: Rule,
    arms: Arms,
    memo: Memo,
    slots: int,
    looks: int,
    room: Counts,
    rng: np.random.Generator,
) -> Counts:
    """Spend ``slots`` pulls as if each had been made with the mean as it is; pulls for each arm.

    A look shares out more than one pull of an arm when there are many slots, so that few looks
    spend them; at most ``looks`` are made.
    """
    given = np.zeros(room.size, np.int64)
    while slots > 0 and looks > 0:
        one, two, _ = look(rule, arms, memo)
        one, two = pick(rule, arms, one, two, rng)
        if one < 0:
            break
        each = 1 + max(slots - 2, 0) // (SHARE if two < 0 else 2 * SHARE)
        looks -= 1
        for arm in (one, two):
            if arm >= 0 and slots > 0:
                pulls = min(each, room[arm], slots)
                given[arm] += pulls
                room[arm] -= pulls
                slots -= pulls
                count(rule, arms, memo, arm, pulls)
                if room[arm] == 0:
                    arms[SHUT, arm] = np.inf
    return given


@compiled
def remember(rule: Rule, arms: Arms, memo: Memo, gap: float) -> None:
    """UGapEb names the J(t) of least bound seen, not the last one."""
    fixed_budget = rule.radius == EXPLORATION or rule.radius == ADAPTIVE
    if rule.sampling == GAPS and fixed_budget and gap < memo[RECORD]:
        memo[RECORD] = gap
        for i in range(arms.shape[1]):
            arms[BEST, i] = arms[CHOSEN, i]


@compiled
def pull(
    rule: Rule,
    arms: Arms,
    memo: Memo,
    i: int,
    mean: float,
    gaussian: bool,
    rng: np.random.Generator,
) -> None:
    """One reward: 0 or 1, or Gaussian of variance 1/4."""
    if gaussian:
        arms[REWARDS, i] += mean + 0.5 * rng.standard_normal()
    elif rng.random() < mean:
        arms[REWARDS, i] += 1.0
    arms[MEAN, i] = arms[REWARDS, i] / (arms[PULLS, i] + 1)
    count(rule, arms, memo, i, 1)


@compiled
def warm_up(
    rule: Rule,
    arms: Arms,
    memo: Memo,
    truth: Floats,
    budget: int,
    gaussian: bool,
    rng: np.random.Generator,
) -> None:
    for pulls in range(1, rule.warm + 1):
        for i in range(truth.size):
            if arms[PULLS, i] < pulls and memo[TOTAL] < budget:
                pull(rule, arms, memo, i, truth[i], gaussian, rng)


@compiled
def run(
    rule: Rule,
    arms: Arms,
    memo: Memo,
    truth: Floats,
    budget: int,
    cap: int,
    gaussian: bool,
    rng: np.random.Generator,
) -> bool:
    """Play on arms of these means until the promise, the budget or the cap; whether it was kept."""
    warm_up(rule, arms, memo, truth, budget, gaussian, rng)
    while memo[TOTAL] >= rule.warm * truth.size:
        one, two, gap = look(rule, arms, memo)
        remember(rule, arms, memo, gap)
        if kept(rule, gap):
            return True
        if memo[TOTAL] >= min(budget, cap):
            return False
        one, two = pick(rule, arms, one, two, rng)
        pull(rule, arms, memo, one, truth[one], gaussian, rng)
        if two >= 0 and memo[TOTAL] < budget:
            pull(rule, arms, memo, two, truth[two], gaussian, rng)
    return False

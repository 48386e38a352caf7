"""Confidence radii: how far the truth may be from each arm's mean, updated arm by arm."""

# mypy: disable-error-code="no-any-return"
# (numba has no types: what a compiled function calls is Any.)

import numpy as np

from topk.compiled import compiled

from .divergence import log_mixture, negative_entropy
from .layout import (
    ADAPTIVE,
    BERNSTEIN,
    CLOCK,
    DIVERGENCE,
    EXPLORATION,
    EXTRA,
    HIGH,
    INNER,
    ITERATED,
    LOWER,
    MEAN,
    MIXTURE,
    MOST_PULLED,
    OUTER,
    PULLS,
    TOTAL,
    UNPULLED,
    UPPER,
    Arms,
    Memo,
    Strategy,
)
from .sets import settle


@compiled
def log_term(strategy: Strategy, arms: Arms, memo: Memo) -> float:
    """Compute log_constant + log_power ln t, t the clock, never less than the pulls of any arm.

    Under the paper's own sampling t is the paper's; under batches the second part keeps u <= t,
    which the union bounds need.
    """
    # tick 1: every pull is a round. tick 2: after one pull of each arm, two pulls are a round.
    clock = memo[TOTAL]
    if strategy.tick == 2:
        clock = max(1 + (memo[TOTAL] - arms.shape[1] + 1) // 2, memo[MOST_PULLED])
    return strategy.log_constant + strategy.log_power * np.log(max(clock, 1.0))


@compiled
def lil_part(strategy: Strategy, pulls: int, log_rate: float) -> float:
    """Compute U(T, w) of Jamieson 2014 with ln((1+e)T + 2), the form Jiang 2017 ran; log_rate = ln
    1/w.
    """
    inner = np.log(np.log((1 + strategy.growth) * pulls + 2)) + log_rate
    return strategy.width * np.sqrt(inner / pulls)


@compiled
def refresh(strategy: Strategy, arms: Arms, i: int) -> None:
    """Update one arm's part of the radius to its pulls and mean."""
    pulls, mean = arms[PULLS, i], arms[MEAN, i]
    if pulls == 0:
        arms[INNER, i] = arms[OUTER, i] = UNPULLED
    elif strategy.radius == ITERATED:
        arms[INNER, i] = lil_part(strategy, pulls, strategy.log_inner)
        arms[OUTER, i] = lil_part(strategy, pulls, strategy.log_outer)
    elif strategy.radius == BERNSTEIN and pulls > 1:
        # Unbiased variance of 0/1 rewards, and at least that of any others in [0, 1].
        arms[INNER, i] = arms[OUTER, i] = np.sqrt(2 * mean * (1 - mean) / (pulls - 1))
        arms[EXTRA, i] = 7 / (3 * (pulls - 1))
    elif strategy.radius == BERNSTEIN:
        arms[INNER, i] = arms[OUTER, i] = UNPULLED
    elif strategy.radius == DIVERGENCE:
        arms[EXTRA, i] = negative_entropy(mean)
    elif strategy.radius == MIXTURE:
        arms[EXTRA, i] = negative_entropy(mean)
        arms[INNER, i] = log_mixture(pulls, mean)
    else:
        # All others are a scale common to the arms, by ``scale_of``, over the root of the pulls.
        arms[INNER, i] = arms[OUTER, i] = 1 / np.sqrt(pulls)


@compiled
def count(strategy: Strategy, arms: Arms, memo: Memo, i: int, pulls: int) -> None:
    """Count pulls of one arm, whose mean is up to date, and update its radius."""
    arms[PULLS, i] += pulls
    memo[TOTAL] += pulls
    memo[MOST_PULLED] = max(memo[MOST_PULLED], arms[PULLS, i])
    refresh(strategy, arms, i)


@compiled
def refresh_all(strategy: Strategy, arms: Arms, memo: Memo) -> None:
    """Update the totals and every arm's part of the radius to the counts."""
    memo[TOTAL], memo[MOST_PULLED] = 0, 0
    for i in range(arms.shape[1]):
        memo[TOTAL] += arms[PULLS, i]
        count(strategy, arms, memo, i, 0)


@compiled
def hardness(strategy: Strategy, arms: Arms) -> float:
    """Compute UGapE's H by the gaps of means plus 1/sqrt(2T): sum of max((gap+eps)/2, eps)^-2."""
    kth, next_one = settle(arms[MEAN], arms[HIGH], strategy.k)
    total = 0.0
    for i in range(arms.shape[1]):
        # An arm among the K best is compared with the next one, all others with the K-th.
        rival = next_one if arms[HIGH, i] < 0 else kth
        # INNER is 1 / sqrt(T) here, because the only radii that need H are of that kind.
        gap = abs(arms[MEAN, i] - rival) + arms[INNER, i] * np.sqrt(0.5)
        total += max((gap + strategy.accuracy) / 2, strategy.accuracy) ** -2
    return total


@compiled
def scale_of(strategy: Strategy, arms: Arms, memo: Memo) -> float:
    """Compute the present factor of every arm's part of the radius."""
    if strategy.radius == CLOCK:
        return np.sqrt(log_term(strategy, arms, memo) / 2)
    if strategy.radius == BERNSTEIN:
        return np.sqrt(log_term(strategy, arms, memo))
    if strategy.radius == EXPLORATION:
        return np.sqrt(strategy.exploration)
    if strategy.radius == ADAPTIVE:
        return np.sqrt(
            strategy.exploration * (strategy.budget - arms.shape[1]) / hardness(strategy, arms)
        )
    return 1.0


@compiled
def spread(strategy: Strategy, arms: Arms, memo: Memo) -> None:
    """Set lower, upper = mean -+ radius, with the inner part for an arm inside the set."""
    scale = scale_of(strategy, arms, memo)
    mean, lower, upper, extra = arms[MEAN], arms[LOWER], arms[UPPER], arms[EXTRA]
    inner, outer = arms[INNER], arms[OUTER]
    for i in range(mean.size):
        lower[i] = mean[i] - scale * inner[i]
    for i in range(mean.size):  # apart, or the vectoriser gives up on so many arrays
        upper[i] = mean[i] + scale * outer[i]
    if strategy.radius == BERNSTEIN:
        for i in range(mean.size):
            lower[i] -= scale * scale * extra[i]
            upper[i] += scale * scale * extra[i]

"""The two loops: looking ahead for a crowd (``look_ahead``), and playing a whole run (``run``)."""

# mypy: disable-error-code="no-any-return"
# (numba has no types: what a compiled function calls is Any.)

import numpy as np

from topk.compiled import compiled

from .layout import (
    ADAPTIVE,
    BEST,
    CHOSEN,
    COIN,
    EXPLORATION,
    GAPS,
    MEAN,
    PULLS,
    RECORD,
    REWARDS,
    SHUT,
    TOTAL,
    Arms,
    Counts,
    Floats,
    Memo,
    Strategy,
)
from .looks import look
from .radii import count

PORTIONS = 32  # many slots are spent in about this many portions: a look for each, not for a pull


@compiled
def is_kept(strategy: Strategy, gap: float) -> bool:
    """Tell if this gap is small enough to stop."""
    return gap < strategy.slack if strategy.strict else gap <= strategy.slack


@compiled
def pick(
    strategy: Strategy, arms: Arms, one: int, two: int, rng: np.random.Generator
) -> tuple[int, int]:
    """Pick the arms to pull, in rising order; -1 comes last.

    lil'RandLUCB pulls h with probability T_l / (T_h + T_l), else l (Jiang 2017).
    """
    if strategy.sampling == COIN and one >= 0 and two >= 0:
        share = arms[PULLS, two] / (arms[PULLS, one] + arms[PULLS, two])
        return (one if rng.random() < share else two), -1
    if two >= 0 and (one < 0 or two < one):
        return two, one
    return one, two


@compiled
def look_ahead(
    strategy: Strategy,
    arms: Arms,
    memo: Memo,
    slots: int,
    looks: int,
    room: Counts,
    rng: np.random.Generator,
) -> Counts:
    """Spend ``slots`` pulls as if each had been made with the mean as it is; return pulls per arm.

    A look gives an arm more than one pull if there are many slots, so that few looks spend them; at
    most ``looks`` are made.
    """
    plan = np.zeros(room.size, np.int64)  # pulls handed out so far; room is what is left of it
    while slots > 0 and looks > 0:
        one, two, _ = look(strategy, arms, memo)
        one, two = pick(strategy, arms, one, two, rng)
        if one < 0:
            break
        each = 1 + max(slots - 2, 0) // (PORTIONS if two < 0 else 2 * PORTIONS)
        looks -= 1
        for arm in (one, two):
            if arm >= 0 and slots > 0:
                pulls = min(each, room[arm], slots)
                plan[arm] += pulls
                room[arm] -= pulls
                slots -= pulls
                count(strategy, arms, memo, arm, pulls)
                if room[arm] == 0:
                    arms[SHUT, arm] = np.inf
    return plan


@compiled
def remember(strategy: Strategy, arms: Arms, memo: Memo, gap: float) -> None:
    """Store the J(t) of least bound seen, which UGapEb selects instead of the last one."""
    fixed_budget = strategy.radius == EXPLORATION or strategy.radius == ADAPTIVE
    if strategy.sampling == GAPS and fixed_budget and gap < memo[RECORD]:
        memo[RECORD] = gap
        for i in range(arms.shape[1]):
            arms[BEST, i] = arms[CHOSEN, i]


@compiled
def pull(
    strategy: Strategy,
    arms: Arms,
    memo: Memo,
    i: int,
    mean: float,
    gaussian: bool,
    rng: np.random.Generator,
) -> None:
    """Draw one reward: 0 or 1, or Gaussian of variance 1/4."""
    if gaussian:
        arms[REWARDS, i] += mean + 0.5 * rng.standard_normal()
    elif rng.random() < mean:
        arms[REWARDS, i] += 1.0
    arms[MEAN, i] = arms[REWARDS, i] / (arms[PULLS, i] + 1)
    count(strategy, arms, memo, i, 1)


@compiled
def warm_up(
    strategy: Strategy,
    arms: Arms,
    memo: Memo,
    truth: Floats,
    budget: int,
    gaussian: bool,
    rng: np.random.Generator,
) -> None:
    """Pull every arm ``warm`` times, in turn, as far as the budget allows."""
    for pulls in range(1, strategy.warm + 1):
        for i in range(truth.size):
            if arms[PULLS, i] < pulls and memo[TOTAL] < budget:
                pull(strategy, arms, memo, i, truth[i], gaussian, rng)


@compiled
def run(
    strategy: Strategy,
    arms: Arms,
    memo: Memo,
    truth: Floats,
    budget: int,
    cap: int,
    gaussian: bool,
    rng: np.random.Generator,
) -> bool:
    """Play on arms of these means until the stopping rule, the budget or the cap; return True at
    the rule.
    """
    warm_up(strategy, arms, memo, truth, budget, gaussian, rng)
    while memo[TOTAL] >= strategy.warm * truth.size:
        one, two, gap = look(strategy, arms, memo)
        remember(strategy, arms, memo, gap)
        if is_kept(strategy, gap):
            return True
        if memo[TOTAL] >= min(budget, cap):
            return False
        one, two = pick(strategy, arms, one, two, rng)
        pull(strategy, arms, memo, one, truth[one], gaussian, rng)
        if two >= 0 and memo[TOTAL] < budget:
            pull(strategy, arms, memo, two, truth[two], gaussian, rng)
    return False

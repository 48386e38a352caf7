"""Data of the compiled loops: a board of arms, and the parameters of one algorithm."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
# A set of arms is an array of sides, -inf for an arm inside and +inf outside: max(value, side) is
# then the value inside and +inf outside, min(value, side) the value outside and -inf inside,
# without a branch.
Sides = NDArray[np.float64]
# The board: a row for each quantity of every arm, as numbers in one array, which costs a call less
# than many arrays do. INNER and OUTER are an arm's radius over the common scale when it is inside
# the set chosen and outside of it; for MIXTURE, INNER is the log of the mixed likelihood. EXTRA is
# the second term of Bernstein's radius, or the negative entropy of the mean for KL and MIXTURE;
# SHUT is 0, or infinity for an arm that may not be pulled.
Arms = NDArray[np.float64]
PULLS, REWARDS, MEAN, INNER, OUTER, EXTRA, LOWER, UPPER, KEY, SHUT = range(10)
# Sets: the K best means, the K best by another measure (upper bounds in UGapE, pessimism in CLUCB),
# UGapE's J, and the J of least bound so far.
HIGH, OTHER, CHOSEN, BEST = range(10, 14)
ROWS = 14
# Quantities of all arms together: pulls, those of the arm pulled most, the least bound of a J so
# far, and the arms at which the last searches ended.
Memo = NDArray[np.float64]
TOTAL, MOST_PULLED, RECORD, HINT_IN, HINT_OUT = range(5)

# How an algorithm samples.
PAIR, COIN, GAPS, SETS, INDEX, GAP_INDEX, KL, PAIRS = range(8)
# The kind of radius.
CLOCK, ITERATED, EXPLORATION, ADAPTIVE, BERNSTEIN, DIVERGENCE, MIXTURE = range(7)

UNPULLED = 1e6  # the radius of an arm without a pull: beyond any reward, and finite


class Strategy(NamedTuple):
    """The parameters of one algorithm on one problem.

    sampling, radius   which of the above
    k                  arms to select
    warm               pulls of each arm before any is compared
    slack, strict      stop when the gap is below slack, or at most slack if not strict
    log_constant       the logarithm in the radius is this ...
    log_power          ... plus this many times the logarithm of the clock
    tick               pulls that make one round of the clock
    exploration        a of UGapEb and Gap-E; a multiplier when adaptive
    accuracy           epsilon, if it enters the adaptive exploration
    budget             pulls in all, if the radius depends on it
    growth             e of the iterated-logarithm radius
    width              its factor before the root
    log_inner/_outer   ln(1/w) for arms inside the set chosen, and outside of it; log_inner is the
                       threshold of PAIRS
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


def build_board(pulls: Counts, rewards: Floats, means: Floats, k: int) -> tuple[Arms, Memo]:
    """Build a board for these counts; its sets start anywhere and are mended at the first look."""
    arms, memo = np.zeros((ROWS, pulls.size)), np.zeros(5)
    arms[PULLS], arms[REWARDS], arms[MEAN] = pulls, rewards, means
    arms[HIGH:ROWS] = np.where(np.arange(pulls.size) < k, -np.inf, np.inf)
    memo[RECORD] = np.inf
    return arms, memo

"""The worst swap, bounded for all who are swapped at once: docs/certified.md, section 10.

In a small pool few can be swapped, and what all others could cost need not be paid for.
"""

import math
from dataclasses import dataclass

import numpy as np

from topk.best_sets import Quotas
from topk.problem import Problem

from .certificate import FAR, FOR_INTERVALS, Chosen, Tally, suggested_horizon
from .designs import LARGE_POOL, Counts, Floats
from .quota_swaps import QuotaSwaps
from .swap_prices import RATES, next_to, swap_prices

# Section 10: none of these numbers matters for the promise.
SCALE, SCALE_FOR = 0.15, 0.05  # distance of the accuracies compared, in angle, at this epsilon
NARROWEST, WIDEST = 0.07, 0.3  # whatever epsilon is
AHEAD = 4  # what answers are good for is foreseen for so many more: a fourth of those there are
CLOSE = 0.45  # accuracies at the border are about so far apart, times 1 / n
VARIANCE = 0.12  # of one answer
LARGEST = 2000  # in a larger pool a look at all workers, at each rate, would take too long
DEAR = 1.5  # swaps are used where they are foreseen to need up to so many times what prices do

NOBODY: Counts = np.empty(0, np.int64)


@dataclass(frozen=True)
class Swap:
    """total    the bound on K times the regret
    arms     those who are swapped in the worst case, or nearly
    swapped  those who are swapped in the worst case
    rates    where it is least, and next to that
    """

    total: float
    arms: Counts
    swapped: Counts
    rates: slice


class Swaps:
    """What is certified of the worst swap of so many for so many (10.3).

    quotas     which selections are allowed
    questions  0, or how many there are in the set that accuracy means
    """

    def __init__(self, problem: Problem, quotas: Quotas, questions: int) -> None:
        best, others = problem.k, problem.n - problem.k
        sizes = range(1, min(best, others) + 1)
        delta = problem.delta * (1 - FOR_INTERVALS)
        weights = np.array([1 / m for m in sizes])
        ways = np.array([_log_ways(best, m) + _log_ways(others, m) for m in sizes])
        self.levels: Floats = ways - np.log(weights / weights.sum() * delta)
        scale = SCALE * math.sqrt(problem.epsilon / SCALE_FOR)
        self._prices = swap_prices(min(max(scale, NARROWEST), WIDEST), questions)
        self._within = QuotaSwaps(quotas, self.levels) if quotas.sizes.size > 1 else None

    def worst(self, chosen: Chosen, tally: Tally, open_to: Chosen | None = None) -> Swap:
        """Of all numbers that may be swapped.

        open_to  (n,) who can still answer: arms are of the worst swap that one of these is in, and
                 none if there is no such
        """
        gains = self._gains(chosen, tally)
        if self._within is not None:
            return _worst_within(self._within, gains, chosen, open_to)
        sides = [_Side(mine, gains[mine], self.levels.size) for mine in (~chosen, chosen)]
        bounds = sum(side.sums for side in sides) + self.levels[:, None] * RATES
        rates, totals = bounds.argmin(axis=1), bounds.min(axis=1)
        total = float(totals.max())
        for i in np.argsort(-totals, kind="stable"):
            arms = np.concatenate([side.near(i, rates[i]) for side in sides])
            if open_to is None or open_to[arms].any():
                swapped = np.concatenate([side.dearest(i, rates[i]) for side in sides])
                return Swap(total, arms, swapped, next_to(rates[i]))
        return Swap(total, NOBODY, NOBODY, slice(0, 0))

    def gain(self, swap: Swap, chosen: Chosen, tally: Tally) -> Floats:
        """(arms,) what an answer more of each takes away, with the means as they are."""
        pulls, inside = tally.pulls[swap.arms], chosen[swap.arms]
        good = np.where(inside, pulls - tally.right[swap.arms], tally.right[swap.arms])
        more = 1 + pulls // AHEAD
        if self._prices.questions:
            more = np.clip(self._prices.questions - pulls, 0, more)
        expected = more * (good + 0.5) / (pulls + 1)
        least = np.minimum(np.floor(expected), np.maximum(more - 1, 0)).astype(np.int64)
        part = (expected - least)[:, None]
        one_more = np.minimum(least + 1, more)
        states = np.concatenate([pulls, pulls + more, pulls + more])
        goods = np.concatenate([good, good + least, good + one_more])
        now, then, better = np.split(self._prices.of(states, goods)[:, swap.rates], 3)
        fall = now - ((1 - part) * then + part * better)
        return np.asarray(fall.mean(axis=1) / np.maximum(more, 1))

    def _gains(self, chosen: Chosen, tally: Tally) -> Floats:
        """(n, RATES) what each adds to a swap: those outside may be better, those inside worse.

        What is out is at its worst: all right outside, all wrong inside (Lemma 3).
        """
        out, wrong = tally.asked - tally.pulls, tally.pulls - tally.right
        gains = self._prices.of(tally.asked, np.where(chosen, wrong, tally.right) + out)
        gains[chosen] -= 1  # a price inside is of 1 - accuracy
        return gains


def _worst_within(
    within: QuotaSwaps, gains: Floats, chosen: Chosen, open_to: Chosen | None
) -> Swap:
    """Where nobody in the worst swap can answer any more, a swap of another size is looked for."""
    found = within.worst(gains, chosen)
    total, sizes = found.total, [size for size in within.sizes if size != found.size]
    for other in [None, *sizes]:
        if other is not None:
            found = within.of(other, found.rate, gains, chosen)
        arms = within.near(found, gains, chosen)
        if open_to is None or open_to[arms].any():
            return Swap(total, arms, np.flatnonzero(found.swapped), next_to(found.rate))
    return Swap(total, NOBODY, NOBODY, slice(0, 0))


class _Side:
    """Who is outside the selection, or inside, the dearest first at each rate.

    sums  (most, RATES) of the 1, 2, ... dearest
    """

    def __init__(self, mine: Chosen, prices: Floats, most: int) -> None:
        self._arms = np.flatnonzero(mine)
        self._order = np.argsort(-prices, axis=0, kind="stable")[:most]
        self.sums = np.cumsum(prices[self._order, np.arange(RATES.size)], axis=0)

    def dearest(self, i: int, rate: int) -> Counts:
        return self._arms[self._order[: i + 1, rate]]

    def near(self, i: int, rate: int) -> Counts:
        """The i + 1 dearest at this rate and at those next to it: at the least bound over all rates
        two sets are often as dear.
        """
        named = np.zeros(self._arms.size, bool)
        named[self._order[: i + 1, next_to(rate)]] = True
        return self._arms[named]


def swaps_pay(problem: Problem) -> bool:
    """Whether the swaps are foreseen to need fewer answers than the prices of everybody.

    By n, K, epsilon and delta alone. It is foreseen for accuracies at the border that lie ``CLOSE``
    / n apart; the most is wanted of a swap of such a number that what they lie apart is a part of
    what may be lost.
    """
    n, k, suggested = problem.n, problem.k, suggested_horizon(problem)
    if n > LARGEST or (n >= LARGE_POOL and suggested <= FAR):
        return False
    wanted, apart = problem.epsilon * k, CLOSE / n
    m = min(max(round(math.sqrt(wanted / apart / 3)), 1), k, n - k)
    level = math.log(1 / problem.delta) + _log_ways(k, m) + _log_ways(n - k, m) + 2.4 * m
    needed = 4 * m * VARIANCE * level / (wanted + apart * m**2) ** 2
    return needed < DEAR * suggested


def _log_ways(n: int, m: int) -> float:
    """ln of the number of sets of m among n."""
    return math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)

"""The worst swap, bounded for all swapped workers at once: docs/certified.md, section 4.

In a small pool few can be swapped, and the possible cost of all others need not be paid for.
"""

import math

import numpy as np

from topk.best_sets import Quotas
from topk.problem import Problem

from .free_swaps import NOBODY, FreeSwaps, Swap, worst_swap
from .intervals import FOR_INTERVALS
from .quota_swaps import QuotaSwaps
from .swap_prices import RATES, STANDS_STILL, next_to, swap_prices
from .tally import Chosen, Floats, Tally

# Section 10: none of these numbers matters for the guarantee.
SCALE, SCALE_FOR = 0.15, 0.05  # distance of the accuracies compared, in angle, at this epsilon
NARROWEST, WIDEST = 0.07, 0.3  # whatever epsilon is
AHEAD = 4  # the gain of answers is foreseen for a fourth of those there are
FEW = 16  # where at most one of so many is wanted, those who come in are bounded alone as well,
ALONE = 0.5  # with this share of what may go wrong,
WIDER = 0.18  # and the accuracies compared are farther apart
OFTEN = 0.5  # a swap of m for m has a part of delta like m to this power
# Swaps of so many for as many have a second mixture, for long runs among equals: so much finer, for
# this part of their delta, and looked at from so many answers a worker on.
MANY, FINER, FINE, LATE = 3, 0.45, 0.1, 100
LED = 0.6  # a lead of this part of K * epsilon is not mere luck


class Swaps:
    """Bounds on the worst swap of so many for as many (4.3).

    problem    that the levels are for: its n may be above the number of workers left
    quotas     the allowed selections, of the workers left
    questions  0, or the size of the set that accuracy means
    """

    def __init__(self, problem: Problem, quotas: Quotas, questions: int) -> None:
        free = quotas.sizes.size == 1
        few = free and problem.n >= FEW * problem.k
        scale = (WIDER if few else SCALE) * math.sqrt(problem.epsilon / SCALE_FOR)
        scale = min(max(scale, NARROWEST), WIDEST)
        shares = _delta_shares(problem, free)
        if free and not few:
            shares = _pay_for_alone(problem, shares)
        most = min(problem.k, quotas.groups.size - problem.k)
        levels = _swap_levels(problem, ALONE if few else 0.0, shares)
        self.levels, self.alone = (each[:, :most] for each in levels)
        scales = [scale, FINER * scale][: len(shares)]
        self._prices = [swap_prices(each, questions) for each in scales]
        self._wanted = problem.epsilon * problem.k
        self._within = None if free else QuotaSwaps(quotas, self.levels[0])
        both = zip(self.levels, self.alone, strict=True)
        self._free = [FreeSwaps(*each) for each in both] if free else []

    def worst(self, chosen: Chosen, tally: Tally, open_to: Chosen | None = None) -> Swap:
        """Return the worst swap over all sizes.

        open_to  (n,) flags of workers that can still answer: the arms are of the worst swap with
                 one of these, and none if there is no such swap
        """
        if self._within is not None:
            return _worst_within(self._within, self._gains(chosen, tally), chosen, open_to)
        first, *fine = self._free
        looks = [first.look(self._gains(chosen, tally), chosen)]
        if fine and looks[0].totals.argmax() >= MANY - 1 and tally.pulls.mean() > LATE:
            looks.append(fine[0].look(self._gains(chosen, tally, law=1), chosen))
        return worst_swap(looks, open_to)

    def gain(self, swap: Swap, chosen: Chosen, tally: Tally) -> Floats:
        """Return (arms,) the gain of a further answer of each, with the means as they are."""
        pulls, inside = tally.pulls[swap.arms], chosen[swap.arms]
        good = np.where(inside, pulls - tally.right[swap.arms], tally.right[swap.arms])
        more = 1 + pulls // AHEAD
        prices = self._prices[swap.law]
        if prices.questions:
            more = np.clip(prices.questions - pulls, 0, more)
        expected = more * (good + 0.5) / (pulls + 1)
        least = np.minimum(np.floor(expected), np.maximum(more - 1, 0)).astype(np.int64)
        part = (expected - least)[:, None]
        one_more = np.minimum(least + 1, more)
        states = np.concatenate([pulls, pulls + more, pulls + more])
        goods = np.concatenate([good, good + least, good + one_more])
        now, then, better = prices.look_up(states, goods).reshape(3, -1, RATES.size)
        taken = now - ((1 - part) * then + part * better)
        into, out = (taken[:, rates].mean(axis=1) for rates in swap.rates)
        many = self._rival_factor(swap, chosen, tally)
        return np.asarray(np.where(inside, many * out, into) / np.maximum(more, 1))

    def _rival_factor(self, swap: Swap, chosen: Chosen, tally: Tally) -> float:
        """Return how many times an answer of an arm inside counts: it speaks against all its
        rivals.

        It is 1 if luck alone put it inside, as among equals: more answers of it would bring another
        in.
        """
        lead, sure = max(swap.lead(chosen, tally), 0.0), LED * self._wanted
        led = 1.0 if lead >= sure else lead / sure
        return float(max(swap.rivals, 1.0) ** (led / 2))

    def _gains(self, chosen: Chosen, tally: Tally, law: int = 0) -> Floats:
        """Return (n, RATES) the gain of swapping each: arms outside may be better, those inside
        worse.

        law  number of the mixture

        Outstanding answers are at their worst: all right outside, all wrong inside (Lemma 3).
        """
        out, wrong = tally.requested - tally.pulls, tally.pulls - tally.right
        gains = self._prices[law].look_up(
            tally.requested, np.where(chosen, wrong, tally.right) + out
        )
        gains[chosen] -= 1  # a price inside is of 1 - accuracy
        return gains


def _delta_shares(problem: Problem, free: bool) -> Floats:
    """Return (mixtures, most) the part of the error probability of each for swaps of 1, 2, ...

    With quotas in inverse proportion, so that the levels are concave (4.4).
    """
    sizes = np.arange(1, min(problem.k, problem.n - problem.k) + 1)
    weights = sizes ** (OFTEN if free else -1.0)
    each: Floats = weights / weights.sum()
    if not free or sizes.size < MANY:
        return each[None, :]
    fine = np.where(sizes >= MANY, FINE, 0.0)
    return np.array([each * (1 - fine), each * fine])


def _swap_levels(problem: Problem, share: float, shares: Floats) -> tuple[Floats, Floats]:
    """Return (mixtures, most) twice: levels of swaps of 1, 2, ..., and of the incoming arms alone.

    share   part of the error probability for the incoming arms alone; with 0 their level is that of
            swaps less m ln(STANDS_STILL), and ``shares`` must have paid for it
    shares  as ``_delta_shares`` and ``_pay_for_alone`` return them
    """
    best, others = problem.k, problem.n - problem.k
    sizes = np.arange(1, min(best, others) + 1)
    parts = shares * problem.delta * (1 - FOR_INTERVALS)
    weights = np.log(np.maximum(parts, np.finfo(float).tiny))  # with no part a finite bound of none
    coming, going = (
        np.array([_log_ways(side, m) for m in sizes.tolist()]) for side in (best, others)
    )
    together = coming + going - weights - math.log(1 - share)
    if share:
        return together, coming - weights - math.log(share)
    return together, together - sizes * math.log(STANDS_STILL)


def _pay_for_alone(problem: Problem, shares: Floats) -> Floats:
    """Return the shares (mixtures, most), lowered by the possible cost of the incoming arms alone.

    For these it is the event without a share of its own (section 4, at most 1 - 1 / 1.05).
    """
    others = problem.n - problem.k
    sets = np.exp([-_log_ways(others, m) for m in range(1, shares.shape[1] + 1)])
    sizes = np.arange(1, shares.shape[1] + 1)
    return np.asarray(shares / (1 + float((shares * STANDS_STILL**sizes * sets).sum())))


def _worst_within(
    within: QuotaSwaps, gains: Floats, chosen: Chosen, open_to: Chosen | None
) -> Swap:
    """Return the worst swap; if none of its arms can answer any more, one of another size."""
    found = within.worst(gains, chosen)
    total, sizes = found.total, [size for size in within.sizes if size != found.size]
    for other in [None, *sizes]:
        if other is not None:
            found = within.bound_at_size(other, found.rate, gains, chosen)
        arms = within.arms_near(found, gains, chosen)
        if open_to is None or open_to[arms].any():
            rates = next_to(found.rate)
            return Swap(total, arms, np.flatnonzero(found.swapped), (rates, rates))
    return Swap(total, NOBODY, NOBODY)


def _log_ways(n: int, m: int) -> float:
    """Return ln of the number of sets of m among n."""
    return math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)

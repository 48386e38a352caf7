"""The worst of all swaps that keep to quotas: docs/certified.md, section 4."""

from dataclasses import dataclass

import numpy as np

from topk.best_sets import Quotas

from .swap_prices import RATES, next_to
from .tally import Chosen, Counts, Floats


@dataclass(frozen=True)
class QuotaSwap:
    """A bound that holds for swaps of any size, and the swap that is worst by it.

    size     the number of workers for which it is closest
    rate     number of the rate
    swapped  (n,) True for workers in that swap
    """

    total: float
    size: int
    rate: int
    swapped: Chosen


class QuotaSwaps:
    """Bounds on the cost of swaps of so many for as many that keep the quotas (4.4).

    levels  (most,) of swaps of 1, 2, ... for as many: a concave row, below all its tangents
    """

    def __init__(self, quotas: Quotas, levels: Floats) -> None:
        self._quotas, self._levels = quotas, levels
        self.sizes = range(1, levels.size + 1)
        rises = np.diff(levels)
        self._slopes: Floats = np.append(rises, rises[-1:] if rises.size else 0.0)

    def worst(self, gains: Floats, chosen: Chosen) -> QuotaSwap:
        """Return the worst swap.

        gains  (n, RATES) gain of swapping each arm, at each rate

        At one size the bound is convex in the rate, so the least is found by halving.
        """
        low, high, known = 0, RATES.size - 1, dict[int, QuotaSwap]()
        while low < high:
            rate = (low + high) // 2
            here, there = (self._worst_at_rate(r, gains, chosen, known) for r in (rate, rate + 1))
            if here.total <= there.total:
                high = rate
            else:
                low = rate + 1
        self._worst_at_rate(low, gains, chosen, known)
        return min(known.values(), key=lambda found: found.total)

    def _worst_at_rate(
        self, rate: int, gains: Floats, chosen: Chosen, known: dict[int, QuotaSwap]
    ) -> QuotaSwap:
        """Return the least found at one rate: at the size of its own worst swap, repeatedly."""
        if rate not in known:
            size, best = 1, self.bound_at_size(1, rate, gains, chosen)
            while (then := int(best.swapped.sum()) // 2 or 1) != size:
                size, other = then, self.bound_at_size(then, rate, gains, chosen)
                if other.total >= best.total:
                    break
                best = other
            known[rate] = best
        return known[rate]

    def bound_at_size(self, size: int, rate: int, gains: Floats, chosen: Chosen) -> QuotaSwap:
        """Return the bound by the tangent of the levels at one size, which is above them at every
        other.

        At size 1 the tangent may have any slope: it is so steep that not to swap is worth no more.
        """
        mine, slope = gains[:, rate], RATES[rate] * self._slopes[size - 1]
        if size == 1:
            slope = max(slope, -self._first(mine, chosen))
        worth = np.where(chosen, -mine, mine + slope)
        others = self._quotas.best(worth)
        total = worth[others].sum() - worth[chosen].sum()
        total += RATES[rate] * self._levels[size - 1] - slope * size
        return QuotaSwap(float(total), size, rate, others != chosen)

    def _first(self, gains: Floats, chosen: Chosen) -> float:
        """Return the largest gain of a single 1-for-1 swap."""
        coming, going = (self._dearest(gains, mine) for mine in (~chosen, chosen))
        quotas = self._quotas
        counts = np.bincount(quotas.groups[chosen], minlength=quotas.sizes.size)
        takes, gives = counts < quotas.at_most, counts > quotas.at_least
        across = coming[takes].max(initial=-np.inf) + going[gives].max(initial=-np.inf)
        return float(max(across, (coming + going).max()))

    def _dearest(self, gains: Floats, mine: Chosen) -> Floats:
        """Return (groups,) the largest gain of each, -inf for an empty one."""
        dearest = np.full(self._quotas.sizes.size, -np.inf)
        np.maximum.at(dearest, self._quotas.groups[mine], gains[mine])
        return dearest

    def arms_near(self, found: QuotaSwap, gains: Floats, chosen: Chosen) -> Counts:
        """Return the arms of the worst swap, at this rate or one of those next to it."""
        rates = np.arange(RATES.size)[next_to(found.rate)]
        swaps = [self.bound_at_size(found.size, rate, gains, chosen).swapped for rate in rates]
        return np.flatnonzero(np.any(swaps, axis=0))

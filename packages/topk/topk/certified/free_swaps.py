"""The worst of all swaps without quotas: docs/certified.md, section 4."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .swap_loops import least_totals
from .swap_prices import RATES, next_to
from .tally import Chosen, Counts, Floats, Tally

AS_DEAR = 0.02  # arms cheaper than the swapped ones by no more than this may be swapped soon

NOBODY: Counts = np.empty(0, np.int64)
EACH: Counts = np.arange(RATES.size)


@dataclass(frozen=True)
class Swap:
    """The worst swap, and the bound from it.

    total    the bound on K times the regret
    arms     arms of the worst swap, or nearly
    swapped  arms of the worst swap
    rates    the rates of the least bound, and those next to it: outside, and inside
    rivals   number outside as dear as the swapped, for one such inside
    law      number of the mixture that bounds it
    """

    total: float
    arms: Counts
    swapped: Counts
    rates: tuple[slice, slice] = (slice(0, 0), slice(0, 0))
    rivals: float = 1.0
    law: int = 0

    def lead(self, chosen: Chosen, tally: Tally) -> float:
        """Return the lead in means of the arms that would leave over those that would come in."""
        share = (tally.right + 0.5) / (tally.pulls + 1)
        return float(np.where(chosen, share, -share)[self.swapped].sum())


class FreeSwaps:
    """Bounds on the cost of swaps of so many for as many, by one mixture (4.3).

    levels  (most,) of swaps of 1, 2, ... for as many
    alone   (most,) of the incoming arms, whichever leave
    """

    def __init__(self, levels: Floats, alone: Floats) -> None:
        self._into, self._out = alone[:, None] * RATES, (levels - alone)[:, None] * RATES

    def look(self, gains: Floats, chosen: Chosen) -> "Look":
        """Return the swaps of one selection.

        gains  (n, RATES) gain of swapping each arm, at each rate
        """
        return Look(gains, chosen, self._into, self._out)


class Look:
    """The swaps of one selection, by one mixture.

    totals  (most,) the least bound of swaps of 1, 2, ... for as many
    """

    def __init__(self, gains: Floats, chosen: Chosen, into: Floats, out: Floats) -> None:
        self._gains, self._chosen, self._levels = gains, chosen, (into[0], out[0])
        coming, going = (_Side(mine, gains[mine], len(into)) for mine in (~chosen, chosen))
        self._sides, self._into, self._out = (coming, going), coming.sums + into, going.sums + out
        self.totals = (self._into + _lowest_rates(self._out)).min(axis=1)
        self._pairs: _Pairs | None = None

    def pair_bound(self) -> float:
        """Return the bound of swaps of one for one, each with rates of its own."""
        self._pairs = _Pairs(self._gains, self._chosen, *self._levels)
        return float(self._pairs.totals.max())

    def swap(self, i: int, total: float, open_to: Chosen | None) -> Swap | None:
        """Return the worst swap of i + 1 for as many; None if none of its arms can answer."""
        if i == 0 and self._pairs is not None:
            found = self._pairs.dearest(open_to)
        else:
            found = _SwapByRates.build(*self._sides, i, *_best_rates(self._into[i], self._out[i]))
        if open_to is not None and not open_to[found.arms].any():
            return None
        return found.swap(total, self._gains, self._chosen)


def worst_swap(looks: Sequence[Look], open_to: Chosen | None) -> Swap:
    """Return the worst swap: for each size by the mixture of least bound, for 1 by one of the
    first.
    """
    bounds = np.array([look.totals for look in looks])
    totals, least = bounds.min(axis=0), bounds.argmin(axis=0)
    if totals.argmax() == 0:
        totals[0] = looks[0].pair_bound()
    total = float(totals.max())
    for i in np.argsort(-totals, kind="stable").tolist():
        law = int(least[i])
        if (found := looks[law].swap(i, total, open_to)) is not None:
            return replace(found, law=law)
    return Swap(total, NOBODY, NOBODY)


def _lowest_rates(going: Floats) -> Floats:
    """Return (..., RATES) the least at this rate or a smaller one: inside none is above that
    outside.
    """
    return np.asarray(np.minimum.accumulate(going, axis=-1))


def _best_rates(coming: Floats, going: Floats) -> tuple[int, int]:
    """Return the rates outside and inside, both (RATES,), of the least bound of a swap."""
    into = int((coming + _lowest_rates(going)).argmin())
    return into, int(going[: into + 1].argmin())


@dataclass(frozen=True)
class _SwapByRates:
    """A swap by its rates: its arms, and those that are nearly in it."""

    swapped: Counts
    arms: Counts
    into: int
    out: int

    @classmethod
    def build(cls, coming: "_Side", going: "_Side", i: int, into: int, out: int) -> "_SwapByRates":
        """Return the swap of the i + 1 dearest of each side."""
        swapped = np.concatenate([coming.dearest(i, into), going.dearest(i, out)])
        arms = np.concatenate([coming.arms_near(i, into), going.arms_near(i, out)])
        return cls(swapped, arms, into, out)

    def swap(self, total: float, gains: Floats, chosen: Chosen) -> Swap:
        rates = next_to(self.into), next_to(self.out)
        outside = self._count_as_dear(gains[:, self.into], ~chosen)
        inside = self._count_as_dear(gains[:, self.out], chosen)
        return Swap(total, self.arms, self.swapped, rates, outside / inside)

    def _count_as_dear(self, gains: Floats, mine: Chosen) -> int:
        least = gains[self.swapped[mine[self.swapped]]].min() - AS_DEAR
        return int(np.count_nonzero(gains[mine] >= least))


class _Pairs:
    """Swaps of one for one: if such a swap is the worst, each has rates of its own.

    totals  (outside, inside) the least bound of each
    """

    def __init__(self, gains: Floats, chosen: Chosen, into: Floats, out: Floats) -> None:
        self._outside, self._inside = np.flatnonzero(~chosen), np.flatnonzero(chosen)
        self._into, self._out = gains[self._outside] + into, gains[self._inside] + out
        self.totals: Floats = least_totals(self._into, _lowest_rates(self._out))

    def dearest(self, open_to: Chosen | None) -> _SwapByRates:
        """Return the costliest swap with an arm that can still be asked; of all swaps if there is
        none.
        """
        totals = self.totals
        if open_to is not None and open_to.any():
            allowed = open_to[self._outside][:, None] | open_to[self._inside]
            totals = np.where(allowed, totals, -np.inf)
        a, b = np.unravel_index(totals.argmax(), totals.shape)
        arms = np.array([self._outside[a], self._inside[b]])
        return _SwapByRates(arms, arms, *_best_rates(self._into[a], self._out[b]))


class _Side:
    """The arms outside the selection, or inside, the dearest first at each rate.

    sums  (most, RATES) of the 1, 2, ... dearest
    """

    def __init__(self, mine: Chosen, prices: Floats, most: int) -> None:
        self._arms = np.flatnonzero(mine)
        self._order = np.argsort(-prices, axis=0, kind="stable")[:most]
        self.sums = prices[self._order, EACH].cumsum(axis=0)

    def dearest(self, i: int, rate: int) -> Counts:
        return self._arms[self._order[: i + 1, rate]]

    def arms_near(self, i: int, rate: int) -> Counts:
        """Return the i + 1 dearest at this rate and the next ones: at the least bound over all
        rates two sets are often equally dear.
        """
        named = np.zeros(self._arms.size, bool)
        named[self._order[: i + 1, next_to(rate)]] = True
        return self._arms[named]

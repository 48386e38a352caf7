"""Upper bounds on the regret of any selection, at any time: docs/certified.md, section 3."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from topk.best_sets import Quotas
from topk.compiled import compiled
from topk.problem import Problem

from .designs import (
    KINDS,
    LARGE_POOL,
    LONG,
    list_horizons,
    log_weight,
    nearest_threshold,
    scale_of,
    threshold_accuracy,
    threshold_count,
)
from .supermartingales import price_tables

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Chosen = NDArray[np.bool_]

# Part of delta for the intervals of section 5, and the part if prices are foreseen to need a
# horizon beyond FAR; the rest is for the prices.
FOR_INTERVALS, FOR_MOSTLY_INTERVALS = 0.1, 0.5
FAR = 1000
USED = 0.5  # of n times the horizon that the problem suggests, so many answers are used up
SEARCHED = 200
COARSE = 6  # about so many scales for groups with thresholds of their own


@dataclass(frozen=True)
class Tally:
    """The answers of all workers: (n,) numbers of answers and of right ones, int64, 0 <= right <=
    pulls.

    out  (n,) outstanding answers; None if there are none
    """

    pulls: Counts
    right: Counts
    out: Counts | None = None

    @property
    def requested(self) -> Counts:
        return self.pulls if self.out is None else self.pulls + self.out

    def part(self, of: Chosen) -> "Tally":
        out = None if self.out is None else self.out[of]
        return Tally(self.pulls[of], self.right[of], out)


@dataclass(frozen=True)
class Bound:
    """A bound on K times the regret, and the design it comes from.

    total       the bound
    each        (n,) the part of each worker
    horizon     number of the horizon
    thresholds  number of the threshold of each group
    reference   number of the threshold that sets the scale
    kind        number of the kind of design
    """

    total: float
    each: Floats
    horizon: int
    thresholds: tuple[int, ...]
    reference: int
    kind: int


class Certificate:
    """The designs of one problem, their weights, and the bounds they certify.

    quotas     the allowed selections (section 7)
    questions  0, or the size of the set that accuracy means (section 6)
    below, above  levels at which an accuracy is excluded below an interval, and above it (5.2)
    kinds      numbers of the kinds of design that are used
    by_swaps   True if swaps have the part of delta that is not for intervals (section 10)

    answers_by_prices  about so many are needed if nothing better is known
    """

    def __init__(
        self,
        problem: Problem,
        quotas: Quotas,
        questions: int,
        kinds: Sequence[int] = range(len(KINDS)),
        by_swaps: bool = False,
    ) -> None:
        self.quotas, self.questions, self.kinds = quotas, questions, kinds
        self.horizons = list_horizons(problem.n, questions)
        self.groups = quotas.sizes.size
        guess = suggested_horizon(problem)
        part = FOR_MOSTLY_INTERVALS if guess > FAR and not by_swaps else FOR_INTERVALS
        self.below, self.above = _side_levels(problem, problem.delta * part)
        self.answers_by_prices = USED * problem.n * guess
        chosen_free = math.log(1 / (problem.delta * (1 - part)))
        self._penalties: Floats = chosen_free - _log_weights(guess, self.horizons)

    def first(self, pulls: Counts) -> int | None:
        """Return the shortest horizon that no worker has passed; None beyond the last."""
        most = int(pulls.max())
        i = bisect_left(self.horizons, most)
        return i if i < len(self.horizons) else None

    def penalty(self, i: int, number: int) -> float:
        """Return L: ln(1 / (delta w)) of a design with this threshold.

        With groups all thresholds weigh the same, and that of the scale is paid for besides (7.2).
        """
        h, others = self.horizons[i], float(self._penalties[i]) + math.log(len(self.kinds))
        if self.groups == 1:
            return others - log_weight(h, number)
        return others + (self.groups + 1) * math.log(threshold_count(h))

    def bound(self, i: int, chosen: Chosen, means: Floats, tally: Tally) -> Bound:
        """Return the best bound found on this horizon; all that are looked at are valid (3.2).

        A long horizon takes the nearest thresholds: its tables take up to a second each, which only
        a large pool gives back in answers.
        """
        h = self.horizons[i]
        best = min(self.designs(i, chosen, means, tally), key=attrgetter("total"))
        worth = h <= (LONG if chosen.size >= LARGE_POOL else SEARCHED)
        for group in range(self.groups if worth else 0):
            best = self._descend(best, group, chosen, tally)
        return best

    def least(self, i: int, chosen: Chosen, means: Floats) -> float:
        """Return L / t: the cost of the designs of a horizon if no worker added anything."""
        h, (_, reference) = self.horizons[i], self._numbers(i, chosen, means)
        return self.penalty(i, reference) / max(scale_of(h, reference, kind) for kind in self.kinds)

    def _numbers(self, i: int, chosen: Chosen, means: Floats) -> tuple[tuple[int, ...], int]:
        """Return for each group the threshold nearest to its border, and the one that sets the
        scale.
        """
        h = self.horizons[i]
        numbers = tuple(
            nearest_threshold(h, border) for border in _group_borders(self.quotas, chosen, means)
        )
        if self.groups == 1:
            return numbers, numbers[0]
        return numbers, _coarse_threshold(h, sorted(numbers)[self.groups // 2])

    def designs(self, i: int, chosen: Chosen, means: Floats, tally: Tally) -> list[Bound]:
        """Return the bound of each kind with the nearest thresholds."""
        numbers, reference = self._numbers(i, chosen, means)
        return [self._bound(i, chosen, tally, numbers, reference, kind) for kind in self.kinds]

    def _descend(self, best: Bound, group: int, chosen: Chosen, tally: Tally) -> Bound:
        """Move the group's threshold step by step, as long as the bound falls; return the best
        bound.
        """
        last = threshold_count(self.horizons[best.horizon]) - 2
        for step in (-1, 1):
            while 1 <= (at := best.thresholds[group] + step) <= last:
                numbers = (*best.thresholds[:group], at, *best.thresholds[group + 1 :])
                reference = at if self.groups == 1 else best.reference
                other = self._bound(best.horizon, chosen, tally, numbers, reference, best.kind)
                if other.total >= best.total:
                    break
                best = other
        return best

    def _bound(
        self,
        i: int,
        chosen: Chosen,
        tally: Tally,
        numbers: tuple[int, ...],
        reference: int,
        kind: int,
    ) -> Bound:
        each = self._prices(i, numbers, reference, kind, chosen, tally)
        h = self.horizons[i]
        moved = 0.0
        if self.groups > 1:
            cs = np.array([threshold_accuracy(h, number) for number in numbers])
            moved = _most_moved(self.quotas, cs, chosen)
        total = float(each.sum()) + moved
        total += self.penalty(i, reference) / scale_of(h, reference, kind)
        return Bound(total, each, i, numbers, reference, kind)

    def recompute(self, design: Bound, chosen: Chosen, tally: Tally) -> Bound:
        """Return the bound of the same design for other tallies."""
        return self._bound(
            design.horizon, chosen, tally, design.thresholds, design.reference, design.kind
        )

    def _prices(
        self,
        i: int,
        numbers: tuple[int, ...],
        reference: int,
        kind: int,
        chosen: Chosen,
        tally: Tally,
    ) -> Floats:
        """Return (n,) prices of workers in the selection or outside."""
        h = self.horizons[i]
        if self.groups == 1:
            table = price_tables(h, numbers[0], reference, kind, self.questions)
            return table.look_up(chosen, tally.pulls, tally.right, tally.out)
        each = np.empty(chosen.size)
        for group, number in enumerate(numbers):
            table = price_tables(h, number, reference, kind, self.questions)
            mine = self.quotas.groups == group
            part = tally.part(mine)
            each[mine] = table.look_up(chosen[mine], part.pulls, part.right, part.out)
        return each


def _coarse_threshold(horizon: int, number: int) -> int:
    """Return one of few thresholds near this one, so that groups share few tables."""
    count = threshold_count(horizon)
    step = max(1, count // COARSE)
    return min(max(round(number / step) * step, 1), count - 2)


def suggested_horizon(problem: Problem) -> float:
    """Return the horizon that n, K and epsilon suggest (4.4)."""
    n, wanted = problem.n, problem.epsilon * problem.k
    deviation = (math.sqrt(49 + 8 * n * wanted) - 7) / (4 * n)  # 2 n s^2 + 7 s = K epsilon
    return 0.25 / max(deviation, 1e-9) ** 2


def _side_levels(problem: Problem, delta: float) -> tuple[float, float]:
    """Return the levels of lower bounds, which hold for workers not among the best, and of upper
    ones.

    Delta is shared in proportion to the workers that each serves: an upper bound serves workers
    that are not chosen (5.2).
    """
    n, k = problem.n, problem.k
    return math.log((n - k) * n / (k * delta)), math.log(k * n / ((n - k) * delta))


def _log_weights(guess: float, horizons: list[int]) -> Floats:
    """Return ln w of each horizon: halved with every step from the one nearest the guess (4.4)."""
    nearest_one = int(np.abs(np.log(horizons) - math.log(guess)).argmin())
    weights = 0.5 ** np.abs(np.arange(len(horizons)) - nearest_one)
    return np.asarray(np.log(weights / weights.sum()))


def _group_borders(quotas: Quotas, chosen: Chosen, means: Floats) -> Floats:
    """Return (m,) a threshold for each group, with which no exchange between groups gains (7.3).

    A group that could give a place to another, or take one, has the common threshold.
    """
    if quotas.sizes.size == 1:
        return np.array([_midpoint(means, chosen, ~chosen)])
    counts = np.bincount(quotas.groups[chosen], minlength=quotas.sizes.size)
    gives, takes = counts > quotas.at_least, counts < quotas.at_most
    common = _midpoint(means, chosen & gives[quotas.groups], ~chosen & takes[quotas.groups])
    own = np.array(
        [
            _midpoint(means, chosen & (quotas.groups == g), ~chosen & (quotas.groups == g))
            for g in range(counts.size)
        ]
    )
    return np.asarray(np.clip(own, np.where(gives, common, 0.0), np.where(takes, common, 1.0)))


@compiled
def _midpoint(means, above, below):  # type: ignore[no-untyped-def]
    """Return the midpoint between the worst chosen and the best unchosen mean.

    It is 1 if none is chosen and 0 if all are: both make the other side's loss zero.

    above, below  (n,) flags of the chosen, and of the others
    """
    least, most = np.inf, -np.inf
    for i in range(means.size):
        if above[i]:
            least = min(least, means[i])
        if below[i]:
            most = max(most, means[i])
    if least == np.inf:
        return 1.0
    return 0.0 if most == -np.inf else (least + most) / 2


def _most_moved(quotas: Quotas, cs: Floats, chosen: Chosen) -> float:
    """Return the most that other numbers of each group gain, a place being worth its threshold
    (7.1).
    """
    counts = np.bincount(quotas.groups[chosen], minlength=cs.size)
    # A linear gain over sizes that add up to k: the least of each group, then the dearest first.
    best = quotas.at_least.copy()
    for group in np.argsort(-cs):
        best[group] += min(quotas.at_most[group] - best[group], quotas.k - best.sum())
    return float(cs @ (best - counts))


def worst_swap(quotas: Quotas, chosen: Chosen, lower: Floats, upper: Floats) -> float:
    """Return the most a feasible selection gains over this one, given all intervals (5.3)."""
    # The worst accuracies for this selection do not depend on which other one is compared, so that
    # the best selection under them is the worst swap.
    worth = np.where(chosen, lower, upper)
    return float(worth[quotas.best(worth)].sum() - worth[chosen].sum())

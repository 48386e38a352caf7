"""A plan for a pool of workers mostly apart from the border: docs/certified.md, (8.6). No
guarantee.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

import numpy as np

from .certificate import Bound, Certificate, Chosen, Counts, Floats, Tally
from .crowd import ACCURACIES, accuracy_border
from .designs import LARGE_POOL, nearest_threshold, scale_of, threshold_accuracy, threshold_count
from .fates import LEVELS, Fates, foresee_fates, least_fee
from .supermartingales import price_tables

WARM = 4  # answers of each worker before any is compared
GATE = 0.4  # of the horizon: most answers that a worker is to give on average
FAR, FARTHER = 3.2, 20  # look no farther than so many times the answers planned, and so many more
SHORTEST = 12  # horizon, and the longest is
LONGER = 4  # times the answers of a worker that are foreseen where nothing is known
BESIDE = 1  # thresholds on either side of the border
LOWER, LOWEST = 0.7, 12  # the level falls to this part of itself, so often


@dataclass(frozen=True)
class Plan:
    """A plan to leave workers at a level.

    design   horizon, threshold and kind, without prices
    level    workers so little above the fee are left, in units of the bound; not all of them are
    answers  mean number of answers of a worker
    """

    design: Bound
    level: float
    answers: float


def plan_for(
    certificate: Certificate,
    share: Floats,
    chosen: Chosen,
    tally: Tally,
    reach: Counts,
    wanted: float,
) -> Plan | None:
    """Return the plan that needs the fewest answers from the start, so that past ones do not
    matter.

    None with quotas or in a smaller pool; if no plan leads to the bound that is wanted; or if
    workers would give so many answers each that the answers themselves are the better guide.

    share   (CELLS,) the spread of accuracies
    reach   (n,) how many more answers each can give
    wanted  the bound at which to stop, on K times the regret
    """
    n = tally.pulls.size
    if certificate.groups > 1 or n < LARGE_POOL:
        return None
    found: list[Plan] = []
    least, enough = max(int(tally.pulls.max()), SHORTEST), math.inf
    most = min(_longest_horizon(tally, reach), LONGER * certificate.answers_by_prices / n)
    for i, h in enumerate(certificate.horizons):
        if h > FAR * enough + FARTHER:
            break
        if least <= h <= most:
            found += _candidate_plans(certificate, i, share, chosen, tally, reach, wanted)
            enough = min((each.answers for each in found), default=math.inf)
    for best in sorted(found, key=attrgetter("answers")):
        if best.answers > GATE * certificate.horizons[best.design.horizon]:
            return None
        design = certificate.recompute(best.design, chosen, tally)
        above, lacking = above_fee(certificate, design, chosen, tally, reach), design.total - wanted
        if (
            above.any() and above.sum() >= lacking
        ):  # otherwise even all their answers do not suffice
            return replace(best, level=lowered_level(best.level, above, lacking))
    return None


def _longest_horizon(tally: Tally, reach: Counts) -> float:
    """Return the longest horizon that half of the workers that can still be asked can come to."""
    free = reach > 0
    return float(np.median((tally.pulls + reach)[free])) if free.any() else 0.0


def _candidate_plans(
    certificate: Certificate,
    i: int,
    share: Floats,
    chosen: Chosen,
    tally: Tally,
    reach: Counts,
    wanted: float,
) -> Iterator[Plan]:
    """Yield a plan for each threshold near the border and each kind if it is foreseen to suffice.

    A worker that gives no more answers keeps its price.
    """
    n, gone = chosen.size, np.flatnonzero(reach == 0)
    h, cut, each = (
        certificate.horizons[i],
        accuracy_border(share, certificate.quotas.k / n),
        wanted / n,
    )
    near = nearest_threshold(h, cut)
    for number in range(max(near - BESIDE, 1), min(near + BESIDE, threshold_count(h) - 2) + 1):
        astray = n * float(share @ _astray_cost(threshold_accuracy(h, number), cut))
        for kind in certificate.kinds:
            cost = certificate.penalty(i, number) / scale_of(h, number, kind) + astray
            if cost >= wanted:
                continue
            table = price_tables(h, number, number, kind, certificate.questions)
            if gone.size:
                cost += table.look_up(chosen[gone], tally.pulls[gone], tally.right[gone]).sum()
            if (n - gone.size) * min(least_fee(table)) + cost > wanted:
                continue  # too much whatever their answers
            fate = partial(foresee_fates, h, number, kind, certificate.questions, each, WARM)
            totals = _Totals(fate, share, n - gone.size, cost)
            if (found := _highest_level(totals, wanted)) is not None:
                low, high, part = found
                none = Bound(math.inf, np.zeros(0), i, (number,), number, kind)
                levels, answers = np.log(LEVELS * each), [totals.answers(at) for at in (low, high)]
                level = math.exp(levels[low] + part * (levels[high] - levels[low]))
                yield Plan(none, level, answers[0] + part * (answers[1] - answers[0]))


@dataclass(frozen=True)
class _Totals:
    """The totals foreseen for a design at a level, by its number.

    fate   of each of ACCURACIES, of which the pool has ``share`` (CELLS,)
    who    number of workers that can be asked; all else comes to ``cost``
    """

    fate: Callable[[int], Fates]
    share: Floats
    who: int
    cost: float

    def bound(self, level: int) -> float:
        return float(self.who * (self.fate(level).price @ self.share) + self.cost)

    def answers(self, level: int) -> float:
        """Return the mean number of answers of a worker."""
        return float(self.fate(level).answers @ self.share)


def _astray_cost(at: float, cut: float) -> Floats:
    """Return (CELLS,) costs of workers between the threshold and the border, on the wrong side."""
    low, high = sorted((at, cut))
    between = (low < ACCURACIES) & (high > ACCURACIES)
    return np.asarray(np.where(between, np.abs(ACCURACIES - at), 0.0))


def _highest_level(totals: _Totals, wanted: float) -> tuple[int, int, float] | None:
    """Return the highest level at which the bound suffices: two levels, and the place between them.

    None if it never does. The bound grows with the level, so that few need to be followed.
    """
    low, high = -1, LEVELS.size
    while high - low > 1:
        middle = (low + high) // 2
        if totals.bound(middle) <= wanted:
            low = middle
        else:
            high = middle
    if low < 0 or high == LEVELS.size:
        return None if low < 0 else (low, low, 0.0)
    lower, upper = totals.bound(low), totals.bound(high)
    return low, high, (wanted - lower) / (upper - lower)


def above_fee(
    certificate: Certificate, design: Bound, chosen: Chosen, tally: Tally, reach: Counts
) -> Floats:
    """Return (n,) how much answers could still lower each price; 0 for workers that give no more.

    design  with the prices of these tallies
    """
    h = certificate.horizons[design.horizon]
    table = price_tables(
        h, design.thresholds[0], design.reference, design.kind, certificate.questions
    )
    free = (reach > 0) & (tally.pulls < h)
    return np.asarray(np.where(free, design.each - np.where(chosen, *least_fee(table)), 0.0))


def lowered_level(level: float, above: Floats, lacking: float) -> float:
    """Return the level, or a lower one if too few workers are above it, or none is.

    above    (n,) how much answers could still lower each price, at least one more than 0
    lacking  by how much the bound has to fall
    """
    for _ in range(LOWEST):
        if np.maximum(above - level, 0).sum() >= lacking:
            break
        level *= LOWER
    while level >= above.max():
        level *= LOWER
    return level

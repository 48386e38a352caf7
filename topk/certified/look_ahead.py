"""Look-ahead: the workers to ask next on the way that is foreseen to reach the stop.

docs/certified.md, section 8. The guarantee does not depend on it.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass, replace

import numpy as np

from topk.compiled import compiled
from topk.selector import UNLIMITED

from .certificate import Bound, Certificate, Chosen, Counts, Floats, Tally
from .plan import Plan, above_fee
from .supermartingales import price_tables

WORTH_ASKING = 0.7  # part of what the way brings that is worked for; the rest is dear
# To thresholds between the intervals of those chosen and of the others, as linspace has them,
# in less time.
STEPS = np.arange(24.0)
AHEAD = 1.6  # look up to the next horizon beyond this times the answers that workers have


@dataclass(frozen=True)
class LookAhead:
    """A way to the stop.

    design   to work for; None if it is for intervals
    lacking  answers foreseen until the stop; infinite if it does not come on this way
    end      the bound foreseen at the end of the way
    ahead    (n,) answers of each on the way; 0 if the stop comes without them
    planned  True if it is one answer of each, by a plan
    """

    design: Bound | None
    lacking: float
    end: float
    ahead: Counts
    planned: bool = False


def look_ahead(
    certificate: Certificate,
    chosen: Chosen,
    means: Floats,
    tally: Tally,
    reach: Counts,
    wanted: float,
    plan: Plan | None = None,
) -> LookAhead | None:
    """Return the way on prices or on intervals, by which fewer answers are foreseen (8.2, 8.5,
    8.6).
    """
    prices = None
    if plan is not None:
        prices = _follow_plan(certificate, plan, chosen, tally, reach, wanted)
    if prices is None:
        prices = _look_ahead_on_prices(certificate, chosen, means, tally, reach, wanted)
    foreseen = math.inf if prices is None else prices.lacking
    if prices is not None and foreseen == math.inf:
        foreseen = certificate.answers_by_prices - float(tally.pulls.sum())
    return _look_ahead_on_intervals(certificate, chosen, tally, reach, wanted, foreseen) or prices


def _look_ahead_on_intervals(
    certificate: Certificate,
    chosen: Chosen,
    tally: Tally,
    reach: Counts,
    wanted: float,
    foreseen: float,
) -> LookAhead | None:
    """Return the way to intervals on their side of a threshold, up to a margin, so that no swap
    gains more.

    None if some worker cannot give so many answers, or if no fewer would be needed than by prices.
    The threshold is the one that needs the fewest.
    """
    k = int(chosen.sum())
    if not 0 < k < chosen.size:
        return None
    mean = (tally.right + 0.5) / (tally.pulls + 1)
    margin = wanted / (2 * min(k, chosen.size - k))
    low, high = mean[chosen].min(), mean[~chosen].max()
    start, end = min(low, high) - margin, max(low, high) + margin
    cuts = STEPS * ((end - start) / STEPS[-1]) + start
    cuts[-1] = end
    order = np.lexsort((chosen, tally.pulls, mean))
    total, lack = _cheapest_cut(
        *(cuts, margin, chosen, mean, tally.pulls, reach, certificate.below, certificate.above),
        *(order, foreseen),
    )
    if not 0 < total < foreseen:
        return None
    return LookAhead(None, total, 0.0, lack.astype(np.int64))


@compiled
def _cheapest_cut(  # type: ignore[no-untyped-def]
    cuts, margin, chosen, mean, pulls, reach, below, above, order, foreseen
):
    """Return the fewest answers by any of the thresholds, and each worker's answers for it.

    order  (n,) all workers, equal ones next to each other: they need as many

    It is ``foreseen`` if no threshold needs fewer, or each has a worker on the wrong side of it or
    one that cannot give so many.
    """
    fewest, each, lack = foreseen, np.zeros(mean.size), np.zeros(mean.size)
    for cut in cuts:
        total, last = 0.0, order[0]
        for place in range(order.size):
            i = order[place]
            same = mean[i] == mean[last] and pulls[i] == pulls[last] and chosen[i] == chosen[last]
            if place and same:
                lack[i] = lack[last]
            else:
                # The border that an interval has to keep to, and whether its mean does.
                border = min(max(cut - margin if chosen[i] else cut + margin, 1e-9), 1 - 1e-9)
                within = mean[i] > border if chosen[i] else mean[i] < border
                level = below if chosen[i] else above
                lack[i] = (
                    _answers_lacking(kl_divergence(mean[i], border), level, pulls[i])
                    if within
                    else np.inf
                )
            last = i
            total = total + lack[i] if lack[i] <= reach[i] else np.inf
            if total >= fewest:
                break
        if total < fewest:
            fewest = total
            each[:] = lack
    return fewest, each


@compiled
def _answers_lacking(apart, level, pulls):  # type: ignore[no-untyped-def]
    """Return the answers until an interval ends at a border so far off: all of them shrink its
    width.
    """
    need = 100.0
    for _ in range(3):
        grown = 0.5 * np.log(math.pi / 2 * (max(need, 0.0) + 1))
        need = (level + grown) / apart
    return np.ceil(max(need - pulls, 0.0))


@compiled
def kl_divergence(p, q):  # type: ignore[no-untyped-def]
    """Return the divergence of a coin of p from one of q, in nats; both inside (0, 1)."""
    return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))


def _look_ahead_on_prices(
    certificate: Certificate,
    chosen: Chosen,
    means: Floats,
    tally: Tally,
    reach: Counts,
    wanted: float,
) -> LookAhead | None:
    """Return the way on the shortest horizon that suffices, else on the last that is looked at
    (8.2).

    None if no horizon can: the choice of a design alone costs more than is wanted.
    """
    best: LookAhead | None = None
    if certificate.least(len(certificate.horizons) - 1, chosen, means) >= wanted:
        return None
    for i in _horizons_ahead(certificate, tally, reach):
        end = _end_at_horizon(certificate.horizons[i], tally, reach)
        ways = (
            _way_to_horizon(certificate, design, chosen, end, wanted)
            for design in certificate.designs(i, chosen, means, tally)
        )
        best = min(ways, key=lambda way: (way.lacking, way.end))
        if best.lacking < math.inf:
            break
    return best


def _follow_plan(
    certificate: Certificate,
    plan: Plan,
    chosen: Chosen,
    tally: Tally,
    reach: Counts,
    wanted: float,
) -> LookAhead | None:
    """Return an answer of each worker that the plan does not leave; None if it came too late."""
    if tally.pulls.max() > certificate.horizons[plan.design.horizon]:
        return None
    design = certificate.recompute(plan.design, chosen, tally)
    asked = above_fee(certificate, design, chosen, tally, reach) > plan.level
    end = _end_at_horizon(certificate.horizons[design.horizon], tally, reach)
    way = _way_to_horizon(certificate, design, chosen, end, wanted)
    return replace(way, ahead=asked.astype(np.int64), planned=True)


def _horizons_ahead(certificate: Certificate, tally: Tally, reach: Counts) -> list[int]:
    """Return the horizons at which a worker may be asked, up to the first that is far ahead."""
    first = certificate.first(tally.pulls)
    if first is None:
        return []
    held, least = certificate.horizons, tally.pulls[reach > 0].min(initial=UNLIMITED)
    start = max(first, bisect_right(held, least))
    far = bisect_right(held, AHEAD * tally.pulls.mean())
    return list(range(start, min(max(far, start) + 1, len(held))))


@dataclass(frozen=True)
class End:
    """The state at a horizon.

    ahead  (n,) answers up to it
    tally  the foreseen tally, with the means as they are
    """

    ahead: Counts
    tally: Tally


def _end_at_horizon(horizon: int, tally: Tally, reach: Counts) -> End:
    ahead = np.minimum(np.maximum(horizon - tally.pulls, 0), reach)
    mean = (tally.right + 0.5) / (tally.pulls + 1)
    right = tally.right + np.rint(ahead * mean).astype(np.int64)
    return End(ahead, Tally(tally.pulls + ahead, right))


def _way_to_horizon(
    certificate: Certificate, design: Bound, chosen: Chosen, end: End, wanted: float
) -> LookAhead:
    """Return the way on which workers go to the horizon in order of gain for an answer."""
    then = certificate.recompute(design, chosen, end.tally).each
    lacking, left, ahead = _answers_worth_asking(
        design.each - then, end.ahead, design.total, wanted
    )
    return LookAhead(design, lacking, left, ahead)


@compiled
def _answers_worth_asking(fall, ahead, total, wanted):  # type: ignore[no-untyped-def]
    """Return the number of answers lacking, the bound at the end, and (n,) the answers worth asking
    for.

    fall   (n,) by how much each lowers the bound
    ahead  (n,) with so many answers
    """
    use = np.where(ahead > 0, fall / np.maximum(ahead, 1), -np.inf)
    order = np.argsort(-use, kind="mergesort")
    fallen = np.cumsum(np.maximum(fall[order], 0))
    enough = np.searchsorted(fallen, total - wanted) + 1
    needed = min(enough, np.searchsorted(fallen, WORTH_ASKING * fallen[-1]) + 1)
    lacking = float(ahead[order[:enough]].sum()) if enough <= fallen.size else np.inf
    given = np.zeros_like(ahead)
    given[order[:needed]] = ahead[order[:needed]]
    return lacking, total - fallen[-1], given


def expected_gain(
    certificate: Certificate, design: Bound, chosen: Chosen, tally: Tally, reach: Counts
) -> Floats:
    """Return (n,) how much an answer lowers the bound, on the way to the horizon (8.3)."""
    h = certificate.horizons[design.horizon]
    ahead = np.minimum(np.maximum(h - tally.pulls, 0), reach)
    tables = [
        price_tables(h, number, design.reference, design.kind, certificate.questions)
        for number in design.thresholds
    ]
    if len(tables) == 1:
        return tables[0].gains(chosen, tally.pulls, tally.right, ahead)
    each = np.empty(chosen.size)
    for group, table in enumerate(tables):
        mine = certificate.quotas.groups == group
        each[mine] = table.gains(chosen[mine], tally.pulls[mine], tally.right[mine], ahead[mine])
    return each

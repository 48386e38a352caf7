"""Allocation of questions: docs/certified.md, sections 8 and 10. The guarantee does not depend on
it.
"""

from abc import abstractmethod

import numpy as np

from topk.best_sets import Quotas
from topk.selector import UNLIMITED, Counts, Floats, Selector

from .certificate import Certificate, Chosen, Tally
from .crowd import spread_of_accuracies
from .designs import LARGE_POOL
from .look_ahead import LookAhead, expected_gain, look_ahead
from .plan import WARM, Plan, plan_for
from .swap_allocation import LOOK_OF_POOL, answers_lacking, share_out
from .swaps import Swaps

ROUNDING = 1e-9

# Section 8: none of these numbers matters for the guarantee.
AIM = 0.9  # plan for this part of the wanted bound
BATCH_OF_POOL, BATCH_OF_ANSWERS = 20, 0.015  # size of a batch if no slots are given


class AllocationMixin(Selector):
    """Asks for answers by prices, by intervals or by swaps, for a selector with such a certificate.

    swaps      by which it certifies, None if prices and intervals do
    questions  0, or the size of the set that accuracy means
    """

    quotas: Quotas
    questions: int
    certificate: Certificate
    swaps: Swaps | None
    _crowd: Floats | None  # likeliest shares of accuracies, of these answers
    _means: Floats | None

    @property
    @abstractmethod
    def _tally(self) -> Tally:
        """The answers that are in."""

    @abstractmethod
    def _bounds(self) -> tuple[Floats, Floats]:
        """Return (n,) lower and upper."""

    @property
    def _mean_estimates(self) -> Floats:
        """(n,) means; 0.5 for a worker without an answer."""
        if self._means is None:
            pulls = self.state.pulls
            self._means = np.where(pulls > 0, self.state.rewards / np.maximum(pulls, 1), 0.5)
        return self._means

    def _chosen(self, means: Floats, tally: Tally) -> Chosen:
        """Return (n,) flags of the best means; among equal ones those with more answers."""
        shrunk = (tally.right + 0.5) / (tally.pulls + 1)
        return self.quotas.best(means + ROUNDING * shrunk)

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        """Count outstanding answers as made, with the means as they are."""
        made, reach = self.state.pulls + pending, self._reach(pending, room)
        room, left = np.minimum(room, reach), self._batch()
        if self.swaps is not None:
            return self._ask_for_swaps(self.swaps, slots, pending, reach, room)
        plan = self._plan(made, reach)
        if pending.any() and self.is_held_up():
            left = 0  # section 3: the end is waited for
        elif slots is not None:
            left = min(slots, max(left, self._lacking(reach + pending, plan)) - int(pending.sum()))
        counts, way = np.zeros_like(made), np.zeros_like(made)
        found: LookAhead | None = None
        warming = bool(made.min() < WARM)
        while left > 0:
            pulls, hands, reach_now = made + counts, room - counts, reach - counts
            if warming:
                cold = (pulls < WARM) & (reach_now > 0)
                warming = bool(cold.any())
            free = (hands > 0) & (cold if warming else way > 0)
            if not (warming or free.any()):
                if slots is None and found is not None and found.planned:
                    break  # without slots: these answers may change which workers are needed
                found = self._look_ahead(pulls, reach_now, plan)
                way = reach_now if found is None else found.ahead
                free = (hands > 0) & (way > 0)
            if not free.any():
                break  # no worker that is needed has room
            arms = self._next(found, pulls, reach_now, free)[:left]
            counts[arms] += 1
            way[arms] -= 1
            left -= arms.size
        return counts

    def _ask_for_swaps(
        self, swaps: Swaps, slots: int | None, pending: Counts, reach: Counts, room: Counts
    ) -> Counts:
        tally, means = self._foreseen(self.state.pulls + pending)
        chosen, left = self._chosen(means, tally), self._batch()
        if pending.any() and self.is_held_up():
            return np.zeros_like(pending)
        if slots is not None:
            aim = AIM * self.problem.epsilon * self.problem.k
            known = self.state.pulls.min() >= WARM
            needed = answers_lacking(swaps, chosen, self._tally, aim) if known else UNLIMITED
            left = min(slots, max(left, needed) - int(pending.sum()))
        return share_out(swaps, chosen, tally, reach, room, left)

    def _reach(self, pending: Counts, room: Counts) -> Counts:
        """Return (n,) answers to plan with: workers without room now will have room again."""
        willing = (room > 0) | (pending > 0)
        made = self.state.pulls + pending
        most = np.maximum(self.questions - made, 0) if self.questions else UNLIMITED // 2
        return np.where(willing, most, 0)

    def _batch(self) -> int:
        answers = BATCH_OF_ANSWERS * int(self.state.pulls.sum())
        return max(1, self.problem.n // BATCH_OF_POOL, int(answers))

    def _plan(self, made: Counts, reach: Counts) -> Plan | None:
        """Return the plan to follow once all have had the first answers, if there is one (8.6)."""
        if self.problem.n < LARGE_POOL or ((made < WARM) & (reach > 0)).any():
            return None
        if self._crowd is None:
            self._crowd = spread_of_accuracies(self._tally)
        tally, means = self._foreseen(made)
        chosen, aim = self._chosen(means, tally), AIM * self.problem.epsilon * self.problem.k
        return plan_for(self.certificate, self._crowd, chosen, tally, reach, aim)

    def _lacking(self, room: Counts, plan: Plan | None) -> int:
        """Return the number of answers that are foreseen to be needed until the stop (8.4)."""
        found = self._look_ahead(self.state.pulls, room, plan)
        known = found is not None and self.state.pulls.min() >= WARM
        return int(min(found.lacking, UNLIMITED)) if found is not None and known else UNLIMITED

    def _look_ahead(self, pulls: Counts, room: Counts, plan: Plan | None) -> LookAhead | None:
        tally, means = self._foreseen(pulls)
        chosen = self._chosen(means, tally)
        aim = AIM * self.problem.epsilon * self.problem.k
        return look_ahead(self.certificate, chosen, means, tally, room, aim, plan)

    def _foreseen(self, pulls: Counts) -> tuple[Tally, Floats]:
        """Count outstanding answers as made, with the means as they are."""
        means = self._mean_estimates
        return Tally(pulls, np.rint(np.minimum(means, 1) * pulls).astype(np.int64)), means

    def _next(self, found: LookAhead | None, pulls: Counts, reach: Counts, free: Chosen) -> Counts:
        """Return free arms to be asked once more each before the next look (8.1 to 8.3)."""
        arms = np.flatnonzero(free)
        if (pulls[arms] < WARM).any():
            return arms[np.argsort(pulls[arms], kind="stable")]
        use = self._use(found, pulls, reach)
        most = max(1, self.problem.n // LOOK_OF_POOL)
        return arms[np.argsort(-use[arms], kind="stable")][:most]

    def _use(self, found: LookAhead | None, pulls: Counts, reach: Counts) -> Floats:
        """Return (n,) priorities: how much of the certificate an answer takes away (8.3)."""
        if found is not None and found.planned:
            return -pulls.astype(np.float64)  # all are needed alike: in turn
        tally, means = self._foreseen(pulls)
        chosen = self._chosen(means, tally)
        if found is not None and found.design is not None:
            return expected_gain(self.certificate, found.design, chosen, tally, reach)
        # Working for the intervals: the one that reaches farthest over the border first.
        lower, upper = self._bounds()
        over = np.where(chosen, means[chosen].min() - lower, upper - means[~chosen].max())
        return np.asarray(over)

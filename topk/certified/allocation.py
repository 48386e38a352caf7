"""Whom to ask next: docs/certified.md, sections 8 and 10. Nothing here touches the promise."""

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

# Section 8: none of these numbers matters for the promise.
AIM = 0.9  # plan for this part of what is wanted
BATCH_OF_POOL, BATCH_OF_ANSWERS = 20, 0.015  # of its own accord it asks so many at once


class AllocationMixin(Selector):
    """What a selector with such a certificate asks for, by prices, by intervals or by swaps.

    swaps      by which it certifies, None where prices and intervals do
    questions  0, or how many there are in the set that accuracy means
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
        """(n,) lower and upper."""

    @property
    def _known_means(self) -> Floats:
        """(n,) means; 0.5 where nothing is known."""
        if self._means is None:
            pulls = self.state.pulls
            self._means = np.where(pulls > 0, self.state.rewards / np.maximum(pulls, 1), 0.5)
        return self._means

    def _chosen(self, means: Floats, tally: Tally) -> Chosen:
        """(n,) the best means; among equal ones those that more answers speak for."""
        shrunk = (tally.right + 0.5) / (tally.pulls + 1)
        return self.quotas.best(means + ROUNDING * shrunk)

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        """Outstanding answers count as made, with the means as they are."""
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
                    break  # of its own accord: what these say may change who is needed
                found = self._look_ahead(pulls, reach_now, plan)
                way = reach_now if found is None else found.ahead
                free = (hands > 0) & (way > 0)
            if not free.any():
                break  # the hands of all who are needed are full
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
        """(n,) answers to plan with: hands that are full now will be empty again."""
        willing = (room > 0) | (pending > 0)
        made = self.state.pulls + pending
        most = np.maximum(self.questions - made, 0) if self.questions else UNLIMITED // 2
        return np.where(willing, most, 0)

    def _batch(self) -> int:
        answers = BATCH_OF_ANSWERS * int(self.state.pulls.sum())
        return max(1, self.problem.n // BATCH_OF_POOL, int(answers))

    def _plan(self, made: Counts, reach: Counts) -> Plan | None:
        """By which to go on, once all have had the first answers, if there is one (8.6)."""
        if self.problem.n < LARGE_POOL or ((made < WARM) & (reach > 0)).any():
            return None
        if self._crowd is None:
            self._crowd = spread_of_accuracies(self._tally)
        tally, means = self._foreseen(made)
        chosen, aim = self._chosen(means, tally), AIM * self.problem.epsilon * self.problem.k
        return plan_for(self.certificate, self._crowd, chosen, tally, reach, aim)

    def _lacking(self, room: Counts, plan: Plan | None) -> int:
        """Answers that are foreseen to be needed until the stop (8.4)."""
        found = self._look_ahead(self.state.pulls, room, plan)
        known = found is not None and self.state.pulls.min() >= WARM
        return int(min(found.lacking, UNLIMITED)) if found is not None and known else UNLIMITED

    def _look_ahead(self, pulls: Counts, room: Counts, plan: Plan | None) -> LookAhead | None:
        tally, means = self._foreseen(pulls)
        chosen = self._chosen(means, tally)
        aim = AIM * self.problem.epsilon * self.problem.k
        return look_ahead(self.certificate, chosen, means, tally, room, aim, plan)

    def _foreseen(self, pulls: Counts) -> tuple[Tally, Floats]:
        """Outstanding answers count as made, with the means as they are."""
        means = self._known_means
        return Tally(pulls, np.rint(np.minimum(means, 1) * pulls).astype(np.int64)), means

    def _next(self, found: LookAhead | None, pulls: Counts, reach: Counts, free: Chosen) -> Counts:
        """Some of the free arms, to be asked once more each before looking again (8.1 to 8.3)."""
        arms = np.flatnonzero(free)
        if (pulls[arms] < WARM).any():
            return arms[np.argsort(pulls[arms], kind="stable")]
        use = self._use(found, pulls, reach)
        most = max(1, self.problem.n // LOOK_OF_POOL)
        return arms[np.argsort(-use[arms], kind="stable")][:most]

    def _use(self, found: LookAhead | None, pulls: Counts, reach: Counts) -> Floats:
        """(n,) the more, the sooner: what of the certificate an answer takes away (8.3)."""
        if found is not None and found.planned:
            return -pulls.astype(np.float64)  # all are needed alike: in turn
        tally, means = self._foreseen(pulls)
        chosen = self._chosen(means, tally)
        if found is not None and found.design is not None:
            return expected_gain(self.certificate, found.design, chosen, tally, reach)
        # Working for the intervals: whoever's reaches farthest over the border.
        lower, upper = self._bounds()
        over = np.where(chosen, means[chosen].min() - lower, upper - means[~chosen].max())
        return np.asarray(over)

"""Certified: what every worker could still cost, added up (ours; proved in docs/certified.md).

One supermartingale for each worker and accuracy, tuned to the loss instead of the deviation, is
multiplied over the workers. So the regret of the whole selection is bounded at all times at once
without a union over selections, whoever is asked next and however late the answers are.
"""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from topk.best_sets import QUOTAS, Quotas
from topk.options import Option
from topk.problem import Problem, ProblemError
from topk.promise import Goal, Promise
from topk.selector import UNLIMITED, Counts, Floats, Selector, Standing
from topk.state import State, Verdict

from .certificate import Certificate, Chosen, Tally, worst_swap
from .confidence_sequences import intervals
from .crowd import spread
from .designs import LARGE_POOL, threshold
from .look_ahead import LookAhead, gain, look_ahead
from .plan import WARM, Plan, plan_for
from .settled import settled_by
from .swap_asking import lacking, share_out
from .swaps import Swaps, swaps_pay

LIKE_THESE, THIS_SET = "on questions like these", "on this question set"
MOST_QUESTIONS = 1000
ROUNDING = 1e-9

CROWD_ASSUMES = (
    "Assumes that a worker's answers are independent of each other and of those of other workers "
    f"(where all answer from one small deck, rather promise about accuracy {THIS_SET}), that "
    "questions come in random order, and that the pool stays the same during the run."
)
SET_ASSUMES = (
    "Assumes that questions come in random order, that whether a worker gets a question right does "
    "not depend on when it comes, and that the pool stays the same during the run."
)

# Section 8: none of these numbers matters for the promise.
AIM = 0.9  # plan for this part of what is wanted
LOOK_OF_POOL = 10  # this part of the pool is asked between two looks
BATCH_OF_POOL, BATCH_OF_ANSWERS = 20, 0.015  # of its own accord it asks so many at once

ACCURACY = Option(
    "accuracy",
    LIKE_THESE,
    "What is promised about: accuracy on questions like these, or on this very question set, which "
    "is recommended where gold is short and these questions are what counts.",
    "choice",
    (LIKE_THESE, THIS_SET),
)
TUNED_FOR = Option(
    "tuned_for",
    None,
    "The epsilon that the horizons are weighed for, where it is not the one to stop at: weights "
    "may not follow the answers, so a run whose epsilon is changed keeps those it started with.",
    most=1,
    by_hand=False,
)
QUESTIONS = Option(
    "questions",
    None,
    f"How many questions there are in the set, if accuracy means {THIS_SET}.",
    "integer",
    above=0,
    most=MOST_QUESTIONS,
    by_hand=False,
)


class Certified(Selector):
    """Stops when C <= K epsilon; C / K is certified for the selection of the same moment.

    Such a proof stays true while the same answers count. Nothing is kept of it here.

    Rewards are taken to be 0 or 1; a sum that is not whole is rounded, and nothing is promised
    then.
    """

    name = "certified"
    title = "Certified"
    keeps_quotas = True
    says_accuracy = True
    weighs_out = True
    interval = (
        "confidence bounds: at all times at once the upper ones hold for all who are among the "
        "best, and the lower ones for all others"
    )
    promise = Promise(
        Goal.AGGREGATE, "confidence", "Ours, proved in docs/certified.md", assumes=CROWD_ASSUMES
    )
    known_options: ClassVar[tuple[Option, ...]] = (ACCURACY, QUESTIONS, QUOTAS, TUNED_FOR)

    def __init__(self, problem: Problem, state: State | None = None, **options: Any) -> None:
        super().__init__(problem, state, **options)
        tuned = problem.epsilon if self.options["tuned_for"] is None else self.options["tuned_for"]
        weighed = replace(problem, epsilon=tuned)
        by_swaps = self.options["quotas"] is None and swaps_pay(weighed)
        self.swaps = Swaps(weighed, self.questions) if by_swaps else None
        self.certificate = Certificate(weighed, self.quotas, self.questions, by_swaps=by_swaps)
        self.promise = self._promise()
        self._judged: tuple[float, Chosen] | None = None
        self._spread: tuple[Floats, Floats] | None = None
        self._crowd: Floats | None = None

    def _check(self) -> None:
        n, k, quotas = self.problem.n, self.problem.k, self.options["quotas"]
        everyone = {"groups": np.zeros(n, np.int64), "at_least": [k], "at_most": [k]}
        self.quotas = Quotas(n, k, everyone if quotas is None else quotas)
        self.questions: int = self.options["questions"] or 0
        if self.options["accuracy"] == LIKE_THESE:
            self.questions = 0
        elif not self.questions:
            raise ProblemError(f"Accuracy {THIS_SET} needs the number of questions in the set.")

    def _promise(self) -> Promise:
        measure = f"true accuracy {LIKE_THESE}"
        if self.questions:
            measure = f"accuracy on this set of {self.questions} questions"
        within = Quotas.within if self.options["quotas"] is not None else ""
        assumes = SET_ASSUMES if self.questions else CROWD_ASSUMES
        return replace(type(self).promise, measure=measure, within=within, assumes=assumes)

    # -- observing

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        if self.questions and (self.state.pulls + pulls > self.questions).any():
            raise ValueError(f"A worker answers each of the {self.questions} questions once.")
        super()._count(pulls, rewards)
        self._judged = self._spread = self._crowd = None

    def wait_for(self, out: ArrayLike) -> None:
        super().wait_for(out)
        self._judged = None

    @property
    def _tally(self) -> Tally:
        right = np.rint(self.state.rewards).astype(np.int64)
        return Tally(self.state.pulls, np.minimum(right, self.state.pulls))

    @property
    def _with_out(self) -> Tally:
        return replace(self._tally, out=self.state.out)

    # -- judging

    @property
    def _known_means(self) -> Floats:
        """(n,) means; 0.5 where nothing is known."""
        pulls = self.state.pulls
        return np.where(pulls > 0, self.state.rewards / np.maximum(pulls, 1), 0.5)

    def _chosen(self, means: Floats, tally: Tally) -> Chosen:
        """(n,) the best means; among equal ones those that more answers speak for."""
        shrunk = (tally.right + 0.5) / (tally.pulls + 1)
        return self.quotas.best(np.where(tally.pulls > 0, means, 0.5) + ROUNDING * shrunk)

    def _judgement(self) -> tuple[float, Chosen]:
        """What is certified of K times the regret, and of which selection (3.2, 5.3)."""
        if self._judged is None:
            chosen = self._chosen(self._known_means, self._tally)
            self._judged = self._certified(chosen, self._with_out), chosen
        return self._judged

    def _certified(self, chosen: Chosen, tally: Tally) -> float:
        """What holds of K times the regret of any (n,) selection: every bound does (3.2, 3.3).

        Intervals hold at every prefix of a worker's answers at once, whatever is out.
        """
        means = self._known_means
        total = worst_swap(self.quotas, chosen, *self._bounds())
        if self.swaps is not None:
            return max(0.0, min(total, self.swaps.worst(chosen, tally).total))
        i = self.certificate.first(tally.asked)
        if i is not None and self.certificate.least(i, chosen, means) < total:
            total = min(total, self.certificate.bound(i, chosen, means, tally).total)
        return max(total, 0.0)

    def best(self, values: Floats) -> Counts:
        return np.flatnonzero(self.quotas.best(values))

    def shortfall(self, arms: Counts) -> float:
        chosen = np.zeros(self.problem.n, bool)
        chosen[arms] = True
        return min(1.0, self._certified(chosen, self._with_out) / self.problem.k)

    def design(self) -> tuple[int, float] | None:
        """Horizon and threshold that certify now; None where intervals or swaps do."""
        tally, (total, chosen) = self._with_out, self._judgement()
        i = self.certificate.first(tally.asked)
        if i is None or self.swaps is not None:
            return None
        bound = self.certificate.bound(i, chosen, self._known_means, tally)
        h = self.certificate.horizons[i]
        return (h, threshold(h, bound.reference)) if bound.total <= total + ROUNDING else None

    def _bounds(self) -> tuple[Floats, Floats]:
        """(n,) lower and upper, which for the best and for the others hold all at once (5.2)."""
        if self._spread is None:
            tally, held = self._tally, self.certificate
            self._spread = intervals(
                tally.pulls, tally.right, held.below, self.questions, held.above
            )
        return self._spread

    def _done(self) -> bool:
        return self._suffices(self._judgement()[0])

    def _suffices(self, total: float) -> bool:
        return total <= self.problem.epsilon * self.problem.k + ROUNDING

    def held_up(self) -> bool:
        if self._done() or not self.state.out.any():
            return False
        return self._suffices(self._certified(self._judgement()[1], self._tally))

    def selection(self) -> Counts:
        return np.flatnonzero(self._judgement()[1])

    def standing(self) -> Standing:
        lower, upper = self._bounds()
        mean = self.means
        verdict = self._final()
        settled = np.where(
            verdict == Verdict.UNDECIDED, settled_by(self.quotas, lower, upper), verdict
        )
        return Standing(
            mean=mean,
            lower=np.fmin(lower, mean),  # a mean of fractions may lie outside
            upper=np.fmax(upper, mean),
            verdict=verdict,
            settled=settled.astype(np.int8),
            gap=min(1.0, self._judgement()[0] / self.problem.k),
            wanted=self.problem.epsilon,
        )

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        """Outstanding answers count as made, with the means as they are."""
        made, reach = self.state.pulls + pending, self._reach(pending, room)
        room, left = np.minimum(room, reach), self._batch()
        if self.swaps is not None:
            return self._ask_for_swaps(self.swaps, slots, pending, reach, room)
        plan = self._plan(made, reach)
        if pending.any() and self.held_up():
            left = 0  # section 3: the end is waited for
        elif slots is not None:
            left = min(slots, max(left, self._lacking(reach + pending, plan)) - int(pending.sum()))
        counts, way = np.zeros_like(made), np.zeros_like(made)
        found: LookAhead | None = None
        while left > 0:
            pulls, hands, reach_now = made + counts, room - counts, reach - counts
            cold = (pulls < WARM) & (reach_now > 0)
            if not (cold.any() or (np.minimum(way, hands) > 0).any()):
                if slots is None and found is not None and found.planned:
                    break  # of its own accord: what these say may change who is needed
                found = self._look_ahead(pulls, reach_now, plan)
                way = reach_now if found is None else found.ahead
            free = (hands > 0) & (cold if cold.any() else way > 0)
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
        if pending.any() and self.held_up():
            return np.zeros_like(pending)
        if slots is not None:
            aim = AIM * self.problem.epsilon * self.problem.k
            known = self.state.pulls.min() >= WARM
            needed = lacking(swaps, chosen, self._tally, aim) if known else UNLIMITED
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
            self._crowd = spread(self._tally)
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
            return gain(self.certificate, found.design, chosen, tally, reach)
        # Working for the intervals: whoever's reaches farthest over the border.
        lower, upper = self._bounds()
        over = np.where(chosen, means[chosen].min() - lower, upper - means[~chosen].max())
        return np.asarray(over)

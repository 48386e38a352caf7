"""Certified: a bound on the regret of the selection, for every pool (ours; docs/certified.md).

The probability of the answers together with a wrong selection is compared with a fixed reference
measure, on average over all numberings of the workers. If only few can be selected, or nearly all,
or under quotas, the worst swap is bounded instead.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from topk.accuracy import ACCURACY, LIKE_THESE, QUESTIONS, THIS_SET
from topk.best_sets import QUOTAS, Quotas
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.problem import Problem
from topk.selector import TOGETHER, Counts, Floats, Selector, Standing
from topk.state import State, Verdict

from .confidence_sequences import confidence_intervals
from .every_pool import EveryPool, covers_numberings
from .intervals import side_levels, worst_within
from .settled import settled_by
from .swap_allocation import Foreseen, ask_for_swaps, best_means
from .swaps import Swaps
from .tally import Chosen, Tally

ROUNDING = 1e-9

CROWD_ASSUMES = (
    "Assumes that a worker's answers are independent of each other and of those of other workers "
    f"(where all answer from one small deck, rather guarantee the accuracy {THIS_SET}), that "
    "questions come in random order, and that the pool stays the same during the run."
)
SCORE_ASSUMES = (
    "Assumes that a worker's scores are independent of each other and of those of other workers, "
    "that questions come in random order, and that the pool stays the same during the run."
)
SET_ASSUMES = (
    "Assumes that questions come in random order, that whether a worker gets a question right does "
    "not depend on when it comes, and that the pool stays the same during the run."
)
NUMBERED = (
    "Assumes that nothing but answers distinguishes good workers: who is present, how fast they "
    "answer, who is withdrawn and how they are numbered may follow from answers and chance, not "
    "from accuracy otherwise. "
)
POOL_ASSUMES = (
    f"{NUMBERED}Also that a worker's answers are independent of each other and of those of other "
    f"workers (where all answer from one small deck, rather guarantee the accuracy {THIS_SET}), "
    "that questions come in random order, and that nobody joins after the first answers. The "
    "guarantee is evaluated once, when the run stops."
)
POOL_SET_ASSUMES = (
    f"{NUMBERED}Also that questions come in a random order of each worker's own, that whether a "
    "worker gets a question right does not depend on when it comes, and that nobody joins after "
    "the first answers. The guarantee is evaluated once, when the run stops."
)

TUNED_FOR = Option(
    "tuned_for",
    None,
    "The epsilon that the bounds are weighed for, where it is not the one to stop at: weights may "
    "not follow the answers, so a run whose epsilon is changed keeps those it started with.",
    most=1,
    by_hand=False,
)
PLANNED_FOR = Option(
    "planned_for",
    None,
    "How many workers the weights are for, where some of them are gone: weights may not follow "
    "the answers, and a run that loses workers keeps the weights of its start.",
    "integer",
    above=0,
    by_hand=False,
)
ASKED_OPEN = Option(
    "asked_open",
    False,
    "True if questions went out while workers could still join: then swaps certify, because the "
    "mean over numberings is about workers that nothing but answers distinguishes.",
    "flag",
    by_hand=False,
)
SCORES = Option(
    "scores",
    False,
    "True if answers are scores between 0 and 1: then swaps certify, because the mean over "
    "numberings is about answers that are right or wrong.",
    "flag",
    by_hand=False,
)
OPEN_ASSUMES = (
    " Workers could join while others answered: who joined, and when the roster closed, may not "
    "depend on the answers."
)


class Certified(Selector):
    """Stops when C <= K epsilon; C / K is certified for the selection of the same moment.

    C is the least of a bound by intervals and of one by numberings (``EveryPool``) or by swaps.
    Which of the two it is depends on the problem and the options alone.

    Rewards are 0 or 1, or with the option ``scores`` between these (section 4, *Scores*); without
    it a sum that is not whole is rounded, and then there is no guarantee.
    """

    name = "certified"
    title = "Certified"
    keeps_quotas = True
    says_accuracy = True
    takes_scores = True
    weighs_out = True
    weighs_start = True
    roster_fixed = True
    interval = TOGETHER
    guarantee = Guarantee(
        Goal.AGGREGATE, "confidence", "Ours, proved in docs/certified.md", assumes=CROWD_ASSUMES
    )
    known_options: ClassVar[tuple[Option, ...]] = (
        *(ACCURACY, QUESTIONS, QUOTAS),
        *(TUNED_FOR, PLANNED_FOR, ASKED_OPEN, SCORES),
    )

    def __init__(self, problem: Problem, state: State | None = None, **options: Any) -> None:
        super().__init__(problem, state, **options)
        weighed = _weighed(problem, self.options)
        self._some_gone = weighed.n > problem.n
        self._levels = side_levels(weighed)
        self.pool: EveryPool | None = None
        self.swaps: Swaps | None = None
        if self.covers_withdrawal(problem, self.options):
            self.pool = EveryPool(problem, self.state, self.questions, weighed.n)
        else:
            self.swaps = Swaps(weighed, self.quotas, self.questions)
        self.guarantee = self._guarantee()
        self._judged: tuple[float, Chosen] | None = None
        self._spread: tuple[Floats, Floats] | None = None
        self._means: Floats | None = None

    def _check(self) -> None:
        n, k, quotas = self.problem.n, self.problem.k, self.options["quotas"]
        everyone = {"groups": np.zeros(n, np.int64), "at_least": [k], "at_most": [k]}
        self.quotas = Quotas(n, k, everyone if quotas is None else quotas)

    @classmethod
    def covers_withdrawal(cls, problem: Problem, options: Mapping[str, Any]) -> bool:
        """Return True if numberings are what certifies: by what the run began with alone."""
        if options.get("asked_open") or options.get("scores"):
            return False
        if options.get("quotas") is not None:
            return False
        return covers_numberings(_weighed(problem, options))

    def _guarantee(self) -> Guarantee:
        measure = f"true accuracy {LIKE_THESE}"
        if self.questions:
            measure = f"accuracy on this set of {self.questions} questions"
        within = Quotas.within if self.options["quotas"] is not None else ""
        assumes = SET_ASSUMES if self.questions else CROWD_ASSUMES
        if self.options["scores"]:
            assumes = SCORE_ASSUMES
        if self.pool is not None:
            assumes = POOL_SET_ASSUMES if self.questions else POOL_ASSUMES
        if self.options["asked_open"]:
            assumes = assumes.replace("the pool stays", "the closed roster stays") + OPEN_ASSUMES
        return replace(
            type(self).guarantee,
            measure=measure,
            within=within,
            assumes=assumes,
            at_the_stop=self.pool is not None,
        )

    # -- observing

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        super()._count(pulls, rewards)
        self._judged = self._spread = self._means = None
        if self.pool is not None:
            self.pool._forget()

    def wait_for(self, out: ArrayLike) -> None:
        super().wait_for(out)
        self._judged = None

    @property
    def _tally(self) -> Tally:
        right = np.rint(self.state.rewards).astype(np.int64)
        return Tally(self.state.pulls, np.minimum(right, self.state.pulls))

    @property
    def _tally_with_outstanding(self) -> Tally:
        return replace(self._tally, out=self.state.out)

    def _rounded_against(self, chosen: Chosen, tally: Tally) -> Tally:
        """Return the tally with sums of scores rounded against the selection: prices of workers
        outside rise with the sum, and those inside fall.
        """
        if not self.options["scores"]:
            return tally
        rewards = self.state.rewards
        right = np.where(chosen, np.floor(rewards), np.ceil(rewards)).astype(np.int64)
        return replace(tally, right=right)

    # -- judging

    def _judgement(self) -> tuple[float, Chosen]:
        """Return the certified bound on K times the regret, and its selection."""
        if self._judged is None:
            chosen = self._chosen(self._tally)
            self._judged = self._certified(chosen, self._tally_with_outstanding), chosen
        return self._judged

    def _chosen(self, tally: Tally) -> Chosen:
        """Return (n,) flags of the selection."""
        if self.pool is not None:
            return self._flags(self.pool.selection())
        return best_means(self.quotas, self._mean_estimates, tally)

    def _flags(self, arms: Counts) -> Chosen:
        chosen = np.zeros(self.problem.n, bool)
        chosen[arms] = True
        return chosen

    def _certified(self, chosen: Chosen, tally: Tally) -> float:
        """Return the bound on K times the regret of any (n,) selection.

        Intervals hold at every prefix of a worker's answers at once, whatever is outstanding.
        """
        total = self._by_intervals(chosen)
        if self.pool is not None:
            at = self.pool._without_out if tally.out is None else self.pool._with_out
            bound = self.problem.k * at(np.flatnonzero(chosen))
        else:
            bound = self._by_swaps(chosen, tally)
        return max(0.0, min(total, bound))

    def _by_intervals(self, chosen: Chosen) -> float:
        """Return the bound (5.3).

        Levels are by rank, and so of the roster of the start: there is none once a worker is gone.
        """
        if self._some_gone:
            return math.inf
        return worst_within(self.quotas, chosen, *self._bounds())

    def _by_swaps(self, chosen: Chosen, tally: Tally) -> float:
        """Return the bound (4.5) on K times the regret.

        A worker without a counted answer may never come, and the best set is then another: each
        costs a whole place, and with quotas nothing is certified.
        """
        assert self.swaps is not None
        silent = tally.pulls == 0
        if silent.any() and (self.options["quotas"] is not None or (silent & chosen).any()):
            return math.inf
        against = self._rounded_against(chosen, tally)
        return self.swaps.worst(chosen, against).total + int(silent.sum())

    def best(self, values: Floats) -> Counts:
        return np.flatnonzero(self.quotas.best(values))

    def shortfall(self, arms: Counts) -> float:
        total = self._certified(self._flags(arms), self._tally_with_outstanding)
        return min(1.0, total / self.problem.k)

    def _bounds(self) -> tuple[Floats, Floats]:
        """Return (n,) lower and upper, which hold all at once for the best and for the others
        (5.2).
        """
        if self._spread is None:
            state, (below, above) = self.state, self._levels
            self._spread = confidence_intervals(
                state.pulls, state.rewards, below, self.questions, above
            )
        return self._spread

    def _is_done(self) -> bool:
        if self.pool is not None and self._judged is None:
            arms = self.pool.selection()
            far = self.pool._bound(arms).hint > self.problem.epsilon
            if far and not self._suffices(self._by_intervals(self._flags(arms))):
                return False  # and no need of the proof
        return self._suffices(self._judgement()[0])

    def _suffices(self, total: float) -> bool:
        return total <= self.problem.epsilon * self.problem.k + ROUNDING

    def is_held_up(self) -> bool:
        if not self.state.out.any() or self._is_done():
            return False
        return self._suffices(self._certified(self._judgement()[1], self._tally))

    def selection(self) -> Counts:
        return np.flatnonzero(self._chosen(self._tally))

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
        if pending.any() and self.is_held_up():
            return np.zeros_like(pending)  # the end is waited for
        if self.pool is not None:
            return self.pool._ask(slots, pending, room, rng)
        assert self.swaps is not None
        foreseen = Foreseen(self.quotas, self._mean_estimates, self._tally, self.questions)
        wanted = self.problem.epsilon * self.problem.k
        return ask_for_swaps(self.swaps, foreseen, wanted, slots, pending, room)

    @property
    def _mean_estimates(self) -> Floats:
        """(n,) means; 0.5 for a worker without an answer."""
        if self._means is None:
            pulls = self.state.pulls
            self._means = np.where(pulls > 0, self.state.rewards / np.maximum(pulls, 1), 0.5)
        return self._means


def _weighed(problem: Problem, options: Mapping[str, Any]) -> Problem:
    """Return the problem that the run began with, as far as weights go by it."""
    tuned, planned = options.get("tuned_for"), options.get("planned_for") or 0
    epsilon = problem.epsilon if tuned is None else tuned
    return replace(problem, epsilon=epsilon, n=max(problem.n, planned))

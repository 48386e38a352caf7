"""Certified: the possible cost of every worker, added up (ours; proved in docs/certified.md).

One supermartingale for each worker and accuracy, tuned to the loss instead of the deviation, is
multiplied over the workers. So the regret of the whole selection is bounded at all times at once
without a union over selections, whichever worker is asked next and however late the answers are. In
a small pool the worst swap is bounded instead.
"""

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from topk.best_sets import QUOTAS, Quotas
from topk.options import Option
from topk.problem import Problem, ProblemError
from topk.promise import Goal, Promise
from topk.selector import Counts, Floats, Standing
from topk.state import State, Verdict

from .allocation import ROUNDING, AllocationMixin
from .certificate import Certificate, Chosen, Tally, worst_swap
from .confidence_sequences import confidence_intervals
from .designs import threshold_accuracy
from .settled import settled_by
from .swaps import Swaps, swaps_pay

LIKE_THESE, THIS_SET = "on questions like these", "on this question set"
MOST_QUESTIONS = 1000

CROWD_ASSUMES = (
    "Assumes that a worker's answers are independent of each other and of those of other workers "
    f"(where all answer from one small deck, rather promise about accuracy {THIS_SET}), that "
    "questions come in random order, and that the pool stays the same during the run."
)
SET_ASSUMES = (
    "Assumes that questions come in random order, that whether a worker gets a question right does "
    "not depend on when it comes, and that the pool stays the same during the run."
)

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
PLANNED_FOR = Option(
    "planned_for",
    None,
    "How many workers the weights are for, where some of them are gone: weights may not follow "
    "the answers, so a run that loses workers keeps those it started with.",
    "integer",
    above=0,
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


class Certified(AllocationMixin):
    """Stops when C <= K epsilon; C / K is certified for the selection of the same moment.

    Such a proof stays true while the same answers count. It is not stored here.

    Rewards are taken to be 0 or 1; a sum that is not whole is rounded, and then there is no
    guarantee.
    """

    name = "certified"
    title = "Certified"
    keeps_quotas = True
    says_accuracy = True
    weighs_out = True
    roster_fixed = True
    covers_leavers = False
    interval = (
        "confidence bounds: at all times at once the upper ones hold for all who are among the "
        "best, and the lower ones for all others"
    )
    promise = Promise(
        Goal.AGGREGATE, "confidence", "Ours, proved in docs/certified.md", assumes=CROWD_ASSUMES
    )
    known_options: ClassVar[tuple[Option, ...]] = (
        *(ACCURACY, QUESTIONS, QUOTAS),
        *(TUNED_FOR, PLANNED_FOR),
    )

    def __init__(self, problem: Problem, state: State | None = None, **options: Any) -> None:
        super().__init__(problem, state, **options)
        tuned = problem.epsilon if self.options["tuned_for"] is None else self.options["tuned_for"]
        planned = max(problem.n, self.options["planned_for"] or 0)
        weighed = replace(problem, epsilon=tuned, n=planned)
        self._some_gone = planned > problem.n
        by_swaps = swaps_pay(weighed)
        self.swaps = Swaps(weighed, self.quotas, self.questions) if by_swaps else None
        self.certificate = Certificate(weighed, self.quotas, self.questions, by_swaps=by_swaps)
        self.promise = self._promise()
        self._judged: tuple[float, Chosen] | None = None
        self._spread: tuple[Floats, Floats] | None = None
        self._crowd: Floats | None = None
        self._means: Floats | None = None

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
        self._judged = self._spread = self._crowd = self._means = None

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

    # -- judging

    def _judgement(self) -> tuple[float, Chosen]:
        """Return the certified bound on K times the regret, and its selection (3.2, 5.3)."""
        if self._judged is None:
            chosen = self._chosen(self._mean_estimates, self._tally)
            self._judged = self._certified(chosen, self._tally_with_outstanding), chosen
        return self._judged

    def _certified(self, chosen: Chosen, tally: Tally) -> float:
        """Return the bound on K times the regret of any (n,) selection; all its bounds hold (3.2,
        3.3).

        Intervals hold at every prefix of a worker's answers at once, whatever is outstanding. Their
        levels are by rank, and so of the roster of the start: they are left out once a worker is
        gone.
        """
        means = self._mean_estimates
        total = math.inf
        if not self._some_gone:
            total = worst_swap(self.quotas, chosen, *self._bounds())
        if self.swaps is not None:
            return max(0.0, min(total, self._bound_swaps(self.swaps, chosen, tally)))
        i = self.certificate.first(tally.requested)
        if i is not None and self.certificate.least(i, chosen, means) < total:
            total = min(total, self.certificate.bound(i, chosen, means, tally).total)
        return max(total, 0.0)

    def _bound_swaps(self, swaps: Swaps, chosen: Chosen, tally: Tally) -> float:
        """Return the bound (10.5) on K times the regret.

        A worker without a counted answer may never come, and the best set is then another: each
        costs a whole place, and with quotas nothing is certified.
        """
        silent = tally.pulls == 0
        if silent.any() and (self.options["quotas"] is not None or (silent & chosen).any()):
            return math.inf
        return swaps.worst(chosen, tally).total + int(silent.sum())

    def best(self, values: Floats) -> Counts:
        return np.flatnonzero(self.quotas.best(values))

    def shortfall(self, arms: Counts) -> float:
        chosen = np.zeros(self.problem.n, bool)
        chosen[arms] = True
        return min(1.0, self._certified(chosen, self._tally_with_outstanding) / self.problem.k)

    def design(self) -> tuple[int, float] | None:
        """Return the horizon and threshold that certify now; None if intervals or swaps do."""
        tally, (total, chosen) = self._tally_with_outstanding, self._judgement()
        i = self.certificate.first(tally.requested)
        if i is None or self.swaps is not None:
            return None
        bound = self.certificate.bound(i, chosen, self._mean_estimates, tally)
        h = self.certificate.horizons[i]
        return (
            (h, threshold_accuracy(h, bound.reference)) if bound.total <= total + ROUNDING else None
        )

    def _bounds(self) -> tuple[Floats, Floats]:
        """Return (n,) lower and upper, which hold all at once for the best and for the others
        (5.2).
        """
        if self._spread is None:
            tally, held = self._tally, self.certificate
            self._spread = confidence_intervals(
                tally.pulls, tally.right, held.below, self.questions, held.above
            )
        return self._spread

    def _is_done(self) -> bool:
        return self._suffices(self._judgement()[0])

    def _suffices(self, total: float) -> bool:
        return total <= self.problem.epsilon * self.problem.k + ROUNDING

    def is_held_up(self) -> bool:
        if self._is_done() or not self.state.out.any():
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

"""`same-questions`: all arms meet the same questions in one random order (ours).

Models fail on the same questions, so that differences on common questions vary less than answers.
Each selected arm is within epsilon of the K-th best, for every pool: docs/same-questions.md.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topk.accuracy import ACCURACY, QUESTIONS
from topk.certified.confidence_sequences import confidence_intervals
from topk.certified.selector import PLANNED_FOR, SCORES
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.problem import Problem
from topk.selector import Counts, Floats, Selector, Standing
from topk.state import Verdict

from .allocation import share_questions
from .wealth import PairEvidence

ASSUMES = (
    "Assumes that all candidates meet the same questions in one random order, that an answer does "
    "not depend on when it is asked, and that whether one is missing does not depend on it."
)
LEAVERS = 0.1  # part of delta for pairs that matter only because others left
FIRST = 4  # questions that every arm meets
HALVINGS = 12  # of the epsilon that is shown
MISSING = -1.0  # an answer in the memory


class SameQuestions(Selector):
    """Bets on the differences of pairs; answers are told in the common order, nan if missing."""

    name = "same-questions"
    title = "Same questions"
    common_order = True
    open_roster = False
    weighs_start = True
    roster_fixed = True
    says_accuracy = True
    takes_scores = True
    guarantee = Guarantee(
        Goal.EXPLORE_K,
        "confidence",
        "Ours, by the bets of Waudby-Smith and Ramdas 2024, proved in docs/same-questions.md",
        assumes=ASSUMES,
    )
    interval = (
        "confidence bounds for all workers at all times at once: they have a δ of their own, and "
        "the end depends on differences alone"
    )
    known_options: ClassVar[tuple[Option, ...]] = (ACCURACY, QUESTIONS, PLANNED_FOR, SCORES)

    def _check(self) -> None:
        if self.questions:
            measure = f"accuracy on this set of {self.questions} questions"
            self.guarantee = replace(self.guarantee, measure=measure)
        n = self.problem.n
        self._met = np.array(self.state.memory.get("met", np.zeros(n)), np.int64)
        self._answers = np.full((n, max(64, int(self._met.max()))), np.nan)
        values = np.asarray(self.state.memory.get("answers", ()), np.float64)
        self._answers[self._places()] = np.where(values == MISSING, np.nan, values)
        self._remember()
        self._evidence = PairEvidence(n, self.problem.epsilon, self.questions)
        self._looked: tuple[Counts, Counts, Floats] | None = None

    def _places(self) -> NDArray[np.bool_]:
        """Flag (n, m) the questions met, in the common order."""
        flags: NDArray[np.bool_] = np.arange(self._answers.shape[1]) < self._met[:, None]
        return flags

    def _remember(self) -> None:
        values = np.nan_to_num(self._answers[self._places()], nan=MISSING)
        self.state.memory |= {"met": self._met.copy(), "answers": values}

    @classmethod
    def covers_withdrawal(cls, problem: Problem, options: Mapping[str, Any]) -> bool:
        return True

    # -- observing

    def tell(self, arms: ArrayLike, rewards: ArrayLike, pulls: ArrayLike = 1) -> None:
        """Take answers to the next questions of the common order, of each arm in this order.

        Several pulls in one entry must have the same reward: only 0 or all of them are right. A
        reward of nan is a missing answer. Raises ValueError for any other.
        """
        arms, rewards = np.asarray(arms, np.int64), np.asarray(rewards, np.float64)
        pulls = np.broadcast_to(np.asarray(pulls, np.int64), arms.shape)
        if ((pulls > 1) & (rewards > 0) & (rewards < pulls)).any():
            raise ValueError("Tell each answer on its own: their order counts.")
        each = np.repeat(np.divide(rewards, np.maximum(pulls, 1)), pulls)
        arms = np.repeat(arms, pulls)
        given = ~np.isnan(each)
        super().tell(arms[given], each[given])
        for arm in np.unique(arms):
            self._append(int(arm), each[arms == arm])
        self._remember()
        self._looked = None

    def _append(self, arm: int, values: Floats) -> None:
        start, end = int(self._met[arm]), int(self._met[arm]) + values.size
        if end > self._answers.shape[1]:
            wider = np.full((self.problem.n, 2 * end), np.nan)
            wider[:, : self._answers.shape[1]] = self._answers
            self._answers = wider
        self._answers[arm, start:end] = values
        self._met[arm] = end

    # -- judging

    @property
    def _level(self) -> float:
        """The evidence that each pair needs, as a logarithm; docs/same-questions.md."""
        n, k, delta = self.problem.n, self.problem.k, self.problem.delta
        ever = max(n, int(self.options["planned_for"] or 0))
        if ever > n:
            return math.log(ever * (ever - 1) / (LEAVERS * delta))
        return math.log(k * (n - k) / ((1 - LEAVERS) * delta))

    def _look(self) -> tuple[Counts, Counts, Floats]:
        """Find the arms selected, the others, and the evidence of each pair of them."""
        if self._looked is None:
            inside = self.best(self._estimates())
            outside = np.setdiff1d(np.arange(self.problem.n), inside)
            evidence = self._evidence.read(self._answers, self._met, inside, outside)
            self._looked = inside, outside, evidence
        return self._looked

    def _estimates(self) -> Floats:
        """Estimate (n,) means from the differences to the arm that met the most questions."""
        if not self._met.any():
            return np.zeros(self.problem.n)
        answers = self._answers[:, : self._met.max()]
        farthest = self._met == self._met.max()
        reference = int(np.where(farthest, np.nan_to_num(self.means), -1).argmax())
        lead = answers - answers[reference]
        common = ~np.isnan(lead)
        total = np.where(common, lead, 0).sum(axis=1)
        rounded: Floats = np.round(total / np.maximum(common.sum(axis=1), 1), 12)
        return rounded

    def selection(self) -> Counts:
        return self._look()[0]

    def _is_done(self) -> bool:
        return bool((self._look()[2] >= self._level).all())

    def shortfall(self, arms: Counts) -> float:
        """Search the least epsilon with enough evidence, by bisection from above."""
        outside = np.setdiff1d(np.arange(self.problem.n), arms)
        low, high, middle = 0.0, 1.0, self.problem.epsilon
        pairs = dict.fromkeys(arms.tolist(), outside)
        for _ in range(HALVINGS + 1):
            if short := self._short_pairs(middle, pairs):
                low, pairs = middle, short  # the others have enough for all that are larger
            else:
                high = middle
            middle = (low + high) / 2
        return high

    def _short_pairs(self, epsilon: float, pairs: dict[int, Counts]) -> dict[int, Counts]:
        """Find the pairs without enough evidence that no other is better than the arm."""
        evidence, short = PairEvidence(self.problem.n, epsilon, self.questions), {}
        for arm, others in pairs.items():
            found = evidence.read(self._answers, self._met, np.array([arm]), others)[0]
            if (found < self._level).any():
                short[arm] = others[found < self._level]
        return short

    def standing(self) -> Standing:
        level = math.log(2 * self.problem.n / self.problem.delta)
        lower, upper = confidence_intervals(
            self.state.pulls, self.state.rewards, level, self.questions
        )
        return Standing(
            mean=self.means,
            lower=lower,
            upper=upper,
            verdict=self._final(),
            settled=self._settle(),
            gap=self.shortfall(self.selection()),
            wanted=self.problem.epsilon,
        )

    def _settle(self) -> NDArray[np.int8]:
        """Decide (n,) verdicts of arms of which each pair has enough evidence."""
        settled, verdict = np.zeros(self.problem.n, np.int8), self._final()
        inside, outside, evidence = self._look()
        enough = evidence >= self._level
        settled[inside[enough.all(axis=1)]] = Verdict.ACCEPTED
        settled[outside[enough.all(axis=0)]] = Verdict.REJECTED
        return np.where(verdict == Verdict.UNDECIDED, settled, verdict)

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        made = self._met + pending
        inside, outside, evidence = self._look()
        undecided = np.zeros((made.size, made.size), bool)
        undecided[np.ix_(inside, outside)] = evidence < self._level
        undecided |= undecided.T | (made[:, None] < FIRST)
        return share_questions(undecided, made, room, slots)

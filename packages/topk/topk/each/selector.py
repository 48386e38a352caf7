"""`each-good`: every selected worker is within epsilon of the K-th best (ours).

Confidence sequences, lower ones for workers who are not among the K best and upper ones for those
who are, share delta. The run stops when no upper bound outside exceeds a lower one inside by more
than epsilon. For every pool, at all times: docs/each-good.md.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topk.accuracy import ACCURACY, QUESTIONS
from topk.certified.confidence_sequences import bound_means, confidence_intervals
from topk.certified.selector import ASKED_OPEN, OPEN_ASSUMES, PLANNED_FOR, SCORES, Certified
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.problem import Problem
from topk.selector import Counts, Floats, Selector, Standing
from topk.state import Verdict
from topk.water_filling import fill_level

ASSUMES = (
    "Assumes that a worker's answers are independent of each other, and that questions come in "
    "random order."
)
SET_ASSUMES = (
    "Assumes that questions come in a random order of each worker's own, and that whether a worker "
    "gets a question right does not depend on when it comes."
)
JOINED_ASSUMES = f" Answers of different workers are independent of each other.{OPEN_ASSUMES}"

PRIOR = (3.0, 1.0)  # Beta distribution of the mixture
SIDE = 0.5  # part of delta for each side
LEAVERS = 0.1  # part of a side for workers who are among the K best because others left
FIRST = 3  # answers of each worker before bounds decide
STRIDE = 0.02  # of a worker's answers, that are asked at once
PARTS = 8  # in which a batch is shared out, each seeing the earlier ones


class EachGood(Selector):
    """LUCB with mixture bounds at levels that serve only those for whom they are needed."""

    name = "each-good"
    title = "Each good"
    weighs_start = True
    roster_fixed = True
    says_accuracy = True
    takes_scores = True
    guarantee = Guarantee(
        Goal.EXPLORE_K,
        "confidence",
        "Ours, by the mixtures of Robbins 1970, proved in docs/each-good.md; "
        "sampling of Kalyanakrishnan, Tewari, Auer, Stone 2012",
        assumes=ASSUMES,
    )
    interval = Certified.interval
    known_options: ClassVar[tuple[Option, ...]] = (
        *(ACCURACY, QUESTIONS),
        *(PLANNED_FOR, ASKED_OPEN, SCORES),
    )

    def _check(self) -> None:
        if self.questions:
            measure = f"accuracy on this set of {self.questions} questions"
            self.guarantee = replace(self.guarantee, measure=measure, assumes=SET_ASSUMES)
        if self.options["asked_open"]:
            self.guarantee = replace(
                self.guarantee, assumes=self.guarantee.assumes + JOINED_ASSUMES
            )
        self._bounds_now: tuple[Floats, Floats] | None = None

    @classmethod
    def covers_withdrawal(cls, problem: Problem, options: Mapping[str, Any]) -> bool:
        return True

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        super()._count(pulls, rewards)
        self._bounds_now = None

    # -- judging

    @property
    def _levels(self) -> tuple[float, float]:
        """Levels of lower and of upper bounds (docs/each-good.md, section 3)."""
        n, k, side = self.problem.n, self.problem.k, SIDE * self.problem.delta
        ever = max(n, int(self.options["planned_for"] or 0))
        if self.options["asked_open"]:
            share = 1 / (1 + math.log(ever)) - 1 / (1 + math.log(ever + 1))
            return -math.log(side * share), -math.log(side * share)
        others = max(k / (1 - LEAVERS), (ever - k) / LEAVERS if ever > n else 0.0)
        return math.log((ever - k) / side), math.log(others / side)

    def _intervals(self, pulls: Counts, rewards: Floats) -> tuple[Floats, Floats]:
        low, high = self._levels
        if self.questions:
            return confidence_intervals(pulls, rewards, low, self.questions, high)
        return bound_means(rewards, pulls - rewards, low, high, PRIOR)

    @property
    def _bounds(self) -> tuple[Floats, Floats]:
        if self._bounds_now is None:
            self._bounds_now = self._intervals(self.state.pulls, self.state.rewards)
        return self._bounds_now

    def selection(self) -> Counts:
        return self.best(self._estimates)

    @property
    def _estimates(self) -> Floats:
        """(n,) means, .5 without an answer, equal where only rounding tells them apart."""
        pulls = self.state.pulls
        means = np.where(pulls > 0, self.state.rewards / np.maximum(pulls, 1), 0.5)
        rounded: Floats = np.asarray(np.round(means, 12), np.float64)
        return rounded

    def shortfall(self, arms: Counts) -> float:
        lower, upper = self._bounds
        most = np.delete(upper, arms).max() - lower[arms].min()
        return float(np.clip(most, 0, 1))

    def _is_done(self) -> bool:
        return self.shortfall(self.selection()) <= self.problem.epsilon

    def standing(self) -> Standing:
        (lower, upper), arms, verdict = self._bounds, self.selection(), self._final()
        inside = np.isin(np.arange(self.problem.n), arms)
        in_for_sure = inside & (lower > upper[~inside].max())
        out_for_sure = ~inside & (upper < lower[inside].min())
        settled = np.where(
            verdict == Verdict.UNDECIDED, 1 * in_for_sure - 1 * out_for_sure, verdict
        )
        return Standing(
            mean=self.means,
            lower=lower,
            upper=upper,
            verdict=verdict,
            settled=settled.astype(np.int8),
            gap=self.shortfall(arms),
            wanted=self.problem.epsilon,
        )

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        """Return first answers, then those of who keeps the run from its end."""
        made = self.state.pulls + pending
        counts: Counts = np.clip(FIRST - made, 0, room)
        if counts.any() and (slots is None or counts.sum() >= slots):
            return counts if slots is None else fill_level(counts, slots)
        means, inside = self._estimates, np.isin(np.arange(made.size), self.selection())
        parts = 1 if slots is None else PARTS
        for part in range(parts):
            now, left = made + counts, room - counts
            arm = self._doubtful(now, means, inside, left > 0)
            if arm is None:
                break
            size = int(STRIDE * now[arm]) + 1
            if slots is not None:
                size = -(-(slots - int(counts.sum())) // (parts - part))
            counts[arm] += min(size, int(left[arm]))
        return counts

    def _doubtful(
        self, made: Counts, means: Floats, inside: NDArray[np.bool_], free: NDArray[np.bool_]
    ) -> int | None:
        """Choose the weakest inside or the strongest outside (docs/each-good.md, section 4)."""
        lower, upper = (np.round(one, 9) for one in self._intervals(made, means * made))
        worth = np.where(inside, lower, -upper)
        sides = [np.flatnonzero(side & free) for side in (inside, ~inside)]
        arms = [int(side[worth[side].argmin()]) for side in sides if side.size]
        if self.questions:
            served = self._count_rivals(lower, upper, inside)
            return min(arms, key=lambda arm: made[arm] ** 2 / served[arm], default=None)
        reach = np.where(inside, means - lower, upper - means)
        return max(arms, key=lambda arm: reach[arm], default=None)

    def _count_rivals(self, lower: Floats, upper: Floats, inside: NDArray[np.bool_]) -> Counts:
        """Count, of each arm, the ones on the other side that its answers help to tell apart."""
        epsilon = self.problem.epsilon
        rivals = (~inside & (upper > lower[inside].min() + epsilon)).sum()
        defenders = (inside & (lower < upper[~inside].max() - epsilon)).sum()
        served: Counts = np.maximum(np.where(inside, rivals, defenders), 1)
        return served

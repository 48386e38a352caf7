"""Good arms by e-values, with a false discovery rate of delta by e-BH.

Wang, Ramdas: False discovery rate control with e-values, JRSS B 84, 2022. Evidence of one arm is
that of ``topk.pass_mark``; sampling as HDoC, with half its radius.
"""

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from topk.accuracy import ACCURACY, QUESTIONS
from topk.certified.confidence_sequences import bound_means, confidence_intervals
from topk.certified.selector import SCORES
from topk.options import Option
from topk.pass_mark import evidence_at_least, evidence_below
from topk.selector import Counts, Floats

from .base import Flags, GoodArms, pledge

SET_ASSUMES = (
    "Assumes that questions come in a random order of each worker's own, and that whether a worker "
    "gets a question right does not depend on when it comes."
)
PRIOR = (3.0, 1.0)  # Beta distribution of the shown bounds


class GoodByEValues(GoodArms):
    """The k <= K arms of most evidence are good if each has at least 1 / (k share delta)."""

    name = "good-e-bh"
    title = "e-BH"
    says_accuracy = True
    guarantee = pledge("Wang, Ramdas 2022, by the mixtures of docs/pass-mark.md", mean_share=True)
    known_options: ClassVar[tuple[Option, ...]] = (
        *(ACCURACY, QUESTIONS, SCORES),
        *GoodArms.known_options,
    )

    def _check(self) -> None:
        super()._check()
        if self.questions:
            measure = f"accuracy on this set of {self.questions} questions"
            self.guarantee = replace(self.guarantee, measure=measure, assumes=SET_ASSUMES)

    def _judge(self, pulls: Counts, rewards: Floats) -> tuple[Flags, Flags]:
        tallies = self._counts(rewards, pulls - rewards)
        bad = evidence_below(*tallies, self.mark, self.questions or None)
        return self._accept(self._evidence(*tallies)), bad >= -math.log(self.problem.delta)

    def _evidence(self, sums: Floats, losses: Floats) -> Floats:
        """Compute (m,) logarithms of the evidence against less than the mark less epsilon."""
        least = self.mark - self.problem.epsilon
        return evidence_at_least(*self._counts(sums, losses), least, self.questions or None)

    def _counts(self, sums: Floats, losses: Floats) -> tuple[Floats, Floats]:
        return (np.round(sums), np.round(losses)) if self.questions else (sums, losses)

    def _accept(self, evidence: Floats) -> Flags:
        order = np.argsort(-evidence, kind="stable")[: self.problem.k]
        enough = evidence[order] + np.log(np.arange(1, order.size + 1)) >= self._level
        good = np.zeros(evidence.size, bool)
        if enough.any():
            good[order[: np.flatnonzero(enough)[-1] + 1]] = True
        return good

    def _index(self, pulls: Counts, means: Floats) -> Floats:
        centre = (means * pulls + 1) / (pulls + 2)
        return np.asarray(centre + 0.5 * np.sqrt(np.log(pulls.sum()) / (2 * pulls)))

    def _bounds(self) -> tuple[Floats, Floats]:
        pulls, rewards = self.state.pulls, self.state.rewards
        if self.questions:
            return confidence_intervals(pulls, rewards, self._level, self.questions)
        return bound_means(rewards, pulls - rewards, self._level, self._level, PRIOR)

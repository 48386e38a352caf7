"""Good arms by e-values: accept every arm as soon as it is shown to reach a mark, up to K of them.

Good arm identification: Kano, Honda, Sakamaki, Matsuura, Nakamura, Sugiyama, Machine Learning 108,
2019. An arm is accepted if it is shown to reach the mark less epsilon, and rejected if shown to be
below the mark: with an epsilon above 0 one of the two comes in the end. The false discovery rate is
delta by e-BH: Wang, Ramdas, False discovery rate control with e-values, JRSS B 84, 2022. Evidence
of one arm is that of ``topk.pass_mark``; the next arm is chosen as by HDoC of Kano et al., with
half its radius.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topk.accuracy import ACCURACY, QUESTIONS
from topk.certified.confidence_sequences import bound_means, confidence_intervals
from topk.certified.selector import ASKED_OPEN, OPEN_ASSUMES, PLANNED_FOR, SCORES
from topk.guarantee import Goal, Guarantee
from topk.options import Option
from topk.pass_mark import evidence_at_least, evidence_below
from topk.problem import Problem, ProblemError
from topk.selector import Counts, Floats, Selector, Standing
from topk.state import Verdict

Flags = NDArray[np.bool_]

ASSUMES = (
    "Assumes that a worker's answers are independent of each other and of those of other workers, "
    "and that questions come in random order."
)
SET_ASSUMES = (
    "Assumes that questions come in a random order of each worker's own, and that whether a worker "
    "gets a question right does not depend on when it comes."
)
MARK = Option(
    "mark",
    0.8,
    "The pass mark: the share of right answers that is good enough.",
    above=0,
    most=1,
    by_hand=False,
)

PRIOR = (3.0, 1.0)  # Beta distribution of the shown bounds
PARTS = 8  # in which a batch is shared out, each seeing the earlier ones


def pledge(citation: str, **more: Any) -> Guarantee:
    """State the rule's guarantee."""
    return Guarantee(Goal.MARK, "confidence", citation, assumes=ASSUMES, **more)


class GoodByEValues(Selector):
    """The k <= K arms of most evidence are good if each has at least 1 / (k share delta).

    Asks the undecided arm of the highest index, until K are accepted or all are decided. Verdicts
    follow from the tallies alone; bounds hold at all times and for any sampling.
    """

    name = "good-e-bh"
    title = "e-BH"
    guarantee = pledge("Wang, Ramdas 2022, by the mixtures of docs/pass-mark.md", mean_share=True)
    says_accuracy = True
    takes_mark = True
    epsilon_moves = False  # the evidence is against the mark less epsilon
    weighs_start = True
    roster_fixed = True
    takes_scores = True
    known_options: ClassVar[tuple[Option, ...]] = (
        *(ACCURACY, QUESTIONS, SCORES),
        *(MARK, PLANNED_FOR, ASKED_OPEN),
    )

    def _check(self) -> None:
        self.mark = float(self.options[MARK.name])
        if not self.problem.epsilon < self.mark < 1:
            raise ProblemError(
                f"The pass mark must be above ε and below 1, but it is {self.mark:g}, and ε is "
                f"{self.problem.epsilon:g}."
            )
        self.guarantee = replace(self.guarantee, mark=self.mark)
        if self.questions:
            measure = f"accuracy on this set of {self.questions} questions"
            self.guarantee = replace(self.guarantee, measure=measure, assumes=SET_ASSUMES)
        if self.options["asked_open"]:
            self.guarantee = replace(self.guarantee, assumes=self.guarantee.assumes + OPEN_ASSUMES)
        self._judged: tuple[Flags, Flags] | None = None

    @classmethod
    def covers_withdrawal(cls, problem: Problem, options: Mapping[str, Any]) -> bool:
        return True

    # -- judging

    @property
    def _ever(self) -> int:
        """The number of arms that ever took part, or of the start."""
        return max(self.problem.n, int(self.options["planned_for"] or 0))

    @property
    def _share(self) -> float:
        """The share of delta for each arm; with an open roster all that may ever join have one."""
        if self.options["asked_open"]:
            return 1 / (1 + math.log(self._ever)) - 1 / (1 + math.log(self._ever + 1))
        return 1 / self._ever

    @property
    def _level(self) -> float:
        return -math.log(self.problem.delta * self._share)

    def _judge(self, pulls: Counts, rewards: Floats) -> tuple[Flags, Flags]:
        """Find (n,) flags of the arms shown to be good, and of the arms shown to be bad."""
        tallies = self._tallies(rewards, pulls - rewards)
        bad = evidence_below(*tallies, self.mark, self.questions or None)
        return self._accept(self._evidence(*tallies)), bad >= -math.log(self.problem.delta)

    def _evidence(self, sums: Floats, losses: Floats) -> Floats:
        """Compute (m,) logarithms of the evidence against less than the mark less epsilon."""
        least = self.mark - self.problem.epsilon
        return evidence_at_least(*self._tallies(sums, losses), least, self.questions or None)

    def _tallies(self, sums: Floats, losses: Floats) -> tuple[Floats, Floats]:
        return (np.round(sums), np.round(losses)) if self.questions else (sums, losses)

    def _accept(self, evidence: Floats) -> Flags:
        order = np.argsort(-evidence, kind="stable")[: self.problem.k]
        enough = evidence[order] + np.log(np.arange(1, order.size + 1)) >= self._level
        good = np.zeros(evidence.size, bool)
        if enough.any():
            good[order[: np.flatnonzero(enough)[-1] + 1]] = True
        return good

    def _index(self, pulls: Counts, means: Floats) -> Floats:
        """Compute (n,) the merits of the arms as the next one to ask; all have a pull."""
        centre = (means * pulls + 1) / (pulls + 2)
        return np.asarray(centre + 0.5 * np.sqrt(np.log(pulls.sum()) / (2 * pulls)))

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        super()._count(pulls, rewards)
        self._judged = None

    @property
    def _verdicts(self) -> tuple[Flags, Flags]:
        if self._judged is None:
            self._judged = self._judge(self.state.pulls, self.state.rewards)
        return self._judged

    def _is_done(self) -> bool:
        return self._is_over(*self._verdicts)

    def _is_over(self, good: Flags, bad: Flags) -> bool:
        return bool(good.sum() >= self.problem.k or (good | bad).all())

    def selection(self) -> Counts:
        """Choose the arms shown to be good, at most K of them: the ones with the highest means."""
        good = np.flatnonzero(self._verdicts[0])
        order = np.argsort(-self.means[good], kind="stable")[: self.problem.k]
        return np.sort(good[order])

    @property
    def _gap(self) -> float:
        """Epsilon at the end; before, a number that shows the progress."""
        good, bad = self._verdicts
        if self._is_over(good, bad):
            return self.problem.epsilon
        progress = max(good.sum() / self.problem.k, (good | bad).mean(), 1e-4)
        return float(min(1.0, max(self.problem.epsilon, 0.01) / math.sqrt(progress) + 1e-6))

    def standing(self) -> Standing:
        good, bad = self._verdicts
        verdict, settled = self._final(), good * 1 - (bad & ~good) * 1
        lower, upper = self._bounds()
        return Standing(
            mean=self.means,
            lower=lower,
            upper=upper,
            verdict=verdict,
            settled=np.where(verdict == Verdict.UNDECIDED, settled, verdict).astype(np.int8),
            gap=self._gap,
            wanted=self.problem.epsilon,
        )

    def _bounds(self) -> tuple[Floats, Floats]:
        pulls, rewards = self.state.pulls, self.state.rewards
        if self.questions:
            return confidence_intervals(pulls, rewards, self._level, self.questions)
        return bound_means(rewards, pulls - rewards, self._level, self._level, PRIOR)

    # -- choosing

    def _ask(
        self, slots: int | None, pending: Counts, room: Counts, rng: np.random.Generator | None
    ) -> Counts:
        """Ask a first answer of each arm, then answers of the undecided, by index.

        Pulls count as if they had left the means as they are.
        """
        counts, total = np.zeros_like(room), 1 if slots is None else slots
        means = np.nan_to_num(self.means, nan=0.5)
        fresh = np.flatnonzero((self.state.pulls + pending == 0) & (room > 0))[:total]
        counts[fresh] = 1
        for part in range(PARTS):
            answers = self.state.pulls + pending + counts
            size = -(-(total - int(counts.sum())) // (PARTS - part))
            if size > 0 and answers.all():
                counts += self._share_out(size, answers, means, room - counts)
        return counts

    def _share_out(self, size: int, answers: Counts, means: Floats, room: Counts) -> Counts:
        """Give (n,) so many pulls to the undecided arms, one by one to the highest index."""
        counts, (good, bad) = np.zeros_like(room), self._judge(answers, means * answers)
        if self._is_over(good, bad):
            return counts
        arms = np.flatnonzero(~good & ~bad & (room > 0))
        for _ in range(size if arms.size else 0):
            index = np.where(counts < room, self._index(answers + counts, means), -np.inf)[arms]
            if index.max() == -np.inf:
                break
            counts[arms[index.argmax()]] += 1
        return counts

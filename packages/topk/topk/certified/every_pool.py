"""The mean over all numberings of the workers, bounded: docs/certified.md, section 3."""

from dataclasses import replace

import numpy as np

from topk.accuracy import LIKE_THESE, THIS_SET
from topk.problem import Problem
from topk.selector import Counts
from topk.state import State
from topk.universal.certificate import Bound, Tally, certified
from topk.universal.selector import BATCH, AnyPopulation

from .intervals import FOR_INTERVALS

# Workers on either side of the border, and so many times epsilon: docs/certified.md, section 7.
LEAST, LEAST_PLACES = 6, 0.15
LEAST_EPSILON = 1e-3  # to plan for
AT_FIRST = 4  # answers of each worker that are useful whatever they are
AT_ONCE = 0.25  # of what is lacking by the root of the answers: in fact it falls faster


def covers_numberings(problem: Problem) -> bool:
    """Return True if the mean over numberings is foreseen to need fewer answers than swaps.

    problem  of the start of the run: nothing that depends on an answer
    """
    border = min(problem.k, problem.n - problem.k)
    return border >= LEAST and border * problem.epsilon >= LEAST_PLACES


class EveryPool(AnyPopulation):
    """``universal`` with the bound for every fixed pool; whom to ask it decides in the same way.

    It shares the state of the selector that it works for, and has the part of delta that intervals
    leave.

    began  workers of the start: who is gone without an answer keeps an empty row
    """

    def __init__(self, problem: Problem, state: State, questions: int, began: int) -> None:
        rest = replace(
            problem,
            epsilon=max(problem.epsilon, LEAST_EPSILON),
            delta=problem.delta * (1 - FOR_INTERVALS),
        )
        meaning = THIS_SET if questions else LIKE_THESE
        self._began = began
        super().__init__(rest, state, accuracy=meaning, questions=questions or None)

    @property
    def _tally(self) -> Tally:
        if self._tally_now is None:
            known = super()._tally
            silent = np.zeros(max(0, self._began - known.right.size - known.gone_right.size))
            right, wrong = np.r_[known.gone_right, silent], np.r_[known.gone_wrong, silent]
            self._tally_now = replace(known, gone_right=right, gone_wrong=wrong)
        return self._tally_now

    def _useful(self) -> int:
        answers = int(self.state.pulls.sum())
        if not answers:
            return AT_FIRST * self.problem.n
        return max(int(BATCH * answers), int(AT_ONCE * self._lacking() * answers)) + 1

    def _bound(self, arms: Counts) -> Bound:
        key = arms.tobytes()
        if key not in self._bounds:
            chosen, problem = self._chosen(arms), self.problem
            self._bounds[key] = certified(self._tally, chosen, problem.k, problem.delta, pool=True)
        return self._bounds[key]

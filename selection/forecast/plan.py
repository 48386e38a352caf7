"""A requester's goal and means, before there is a run."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from selection.errors import Refused
from selection.texts import counted
from selection.viewer_locale import format_figure
from topk import Goal, Problem, ProblemError

# The requester's goal, and the guarantees that imply it. Exactly the best satisfies every goal; of
# the other two neither implies the other at the same epsilon.
GOALS = {
    "group": (Goal.AGGREGATE, Goal.EXACT),
    "every": (Goal.EXPLORE_K, Goal.EXACT),
    "exact": (Goal.EXACT,),
    "mark": (Goal.MARK,),
}
MOST_WORKERS, MOST_QUESTIONS = 10_000, 100_000
MOST_AT_ONCE = 3_000.0  # work that a request may wait for: 300 workers with 1,000 questions


@dataclass(frozen=True)
class Plan:
    """Settings for choosing the best ``k`` of the workers.

    questions  gold questions: the most answers that one worker can give
    price      of an answer, in any currency; None: unknown
    budget     most answers to pay for; None: no limit
    goal       a key of GOALS
    left       most answers to the questions in all, if each is limited to some number of workers;
               else None
    met        (questions, workers): this number of workers is not asked this number of questions,
               because they met them before
    mark       the pass mark; None if there is none

    Raises Refused for invalid values.
    """

    workers: int
    k: int
    epsilon: float
    delta: float
    questions: int
    price: float | None = None
    budget: int | None = None
    goal: str = "group"
    left: int | None = None
    met: tuple[tuple[int, int], ...] = ()
    mark: float | None = None

    def __post_init__(self) -> None:
        # JSON has lists instead of tuples.
        object.__setattr__(self, "met", tuple((int(q), int(many)) for q, many in self.met))
        try:
            self.problem()
        except ProblemError as error:
            raise Refused(str(error)) from error
        _check_range("workers", self.workers, MOST_WORKERS)
        _check_range("questions", self.questions, MOST_QUESTIONS)
        if self.price is not None and not 0 <= self.price < math.inf:
            raise Refused(
                f"The price of an answer must be 0 or more, but it is {format_figure(self.price)}."
            )
        if self.goal not in GOALS:
            raise Refused(f"The goal must be one of {', '.join(GOALS)}, but it is “{self.goal}”.")

        if self.goal == "mark" and not (self.mark and self.epsilon < self.mark < 1):
            raise Refused("To find all good workers, give a pass mark above ε and below 1.")
        if any(questions < 1 or many < 1 for questions, many in self.met):
            raise Refused("Questions that were met, and workers who met them, are 1 or more.")
        if self.met_by > self.workers:
            raise Refused(
                f"{counted(self.met_by, 'worker', 'have')} met questions, of "
                f"{self.workers:,} there are."
            )

    @property
    def met_by(self) -> int:
        """Number of workers that are not asked all questions."""
        return sum(many for _, many in self.met)

    @property
    def fewest(self) -> int:
        """Number of questions left for the worker with the fewest."""
        return max(0, self.questions - max((questions for questions, _ in self.met), default=0))

    def room(self) -> NDArray[np.int64]:
        """Count (n,) the questions each worker can be asked; workers are in no order."""
        room = np.full(self.workers, self.questions, np.int64)
        met = np.repeat(*np.array(self.met, np.int64).reshape(-1, 2).T)
        room[: met.size] -= np.minimum(met, self.questions)
        return room

    @property
    def most_answers(self) -> int:
        """Upper bound of the answers: every question answered by everybody, or the budget spent."""
        limits = (int(self.room().sum()), self.budget, self.left)
        return min(limit for limit in limits if limit is not None)

    @property
    def work(self) -> float:
        """Estimated cost of a simulated run.

        Each batch of answers looks at every worker, and batches grow with the answers so far,
        so there are about log2(questions) sizes of them.
        """
        return self.workers * math.log2(1 + self.questions)

    @property
    def is_quick(self) -> bool:
        """True if its first numbers take a web thread about half a second at most."""
        return self.work <= MOST_AT_ONCE

    def problem(self) -> Problem:
        return Problem(self.workers, self.k, self.epsilon, self.delta, self.budget)

    def replace_epsilon(self, epsilon: float) -> "Plan":
        return replace(self, epsilon=epsilon)


def _check_range(noun: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise Refused(f"The number of {noun} must be 1 to {most:,}, but it is {value:,}.")

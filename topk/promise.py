"""What an algorithm promises, in words that can stand next to a number."""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from .problem import Problem


class Goal(StrEnum):
    EXACT = "exact"
    EXPLORE_K = "explore-k"
    AGGREGATE = "aggregate"
    NONE = "none"


MEANING = {
    Goal.EXACT: "the workers selected are the best {k}",
    Goal.EXPLORE_K: (
        "every worker selected is, in {measure}, within {epsilon:g} of the {ordinal} best"
    ),
    Goal.AGGREGATE: (
        "the mean {measure} of the {k} workers selected is within {epsilon:g} "
        "of that of the {k} best"
    ),
}

ASSUMPTIONS = (
    "Assumes that a worker's answers are independent of each other, that questions come in random "
    "order, and that the pool stays the same during the run."
)

SET_ASSUMPTIONS = (
    "Assumes that questions come in random order, that whether a worker gets a question right does "
    "not depend on when it comes, and that the pool stays the same during the run."
)


def ordinal(number: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 <= number % 100 <= 20 else suffix}"


def rounded_up(epsilon: float) -> float:
    """To three places, so that what is said of it still holds; accuracies differ by at most 1.

    What is above a thousandth by less than 1e-12 is there by rounding alone.
    """
    return min(1.0, ceil(epsilon * 1000 - 1e-9) / 1000)


@dataclass(frozen=True)
class Promise:
    """goal       which regret is bounded
    fixed      what is fixed beforehand: "confidence" (delta) or "budget"
    citation   where the promise is proved
    early      which regret the gap bounds when an exact run ends before its time
    note       why nothing is promised, where something could be expected
    within     which selections are allowed, if not all
    measure    what is compared
    assumes    what it rests on
    average    it holds on average over pools like this one, not for every pool: never to stand
               beside the others without saying so
    among      over which pools it is an average
    at_the_stop  it is about what is certified when the run stops, and not about every look: the
               best figure of an earlier look must not be kept
    """

    goal: Goal
    fixed: str
    citation: str
    early: Goal = Goal.NONE
    note: str = ""
    within: str = ""
    measure: str = "true accuracy"
    assumes: str = ASSUMPTIONS
    average: bool = False
    among: str = "pools like this one"
    at_the_stop: bool = False

    def sentence(self, problem: Problem, epsilon: float | None = None) -> str:
        """The promise for this problem, or for the ``epsilon`` that holds by now."""
        if self.fixed == "budget":
            return f"The {problem.k} workers that look best when the budget is spent; no promise."
        reached = problem.epsilon if epsilon is None else epsilon
        goal = self.early if self.goal is Goal.EXACT and epsilon else self.goal
        if goal is Goal.NONE:
            return f"The {problem.k} workers that look best; no promise{self._because()}."
        if self.average:
            return self._average(problem, reached)
        meaning = MEANING[goal].format(
            k=problem.k, epsilon=reached, ordinal=ordinal(problem.k), measure=self.measure
        )
        return f"With probability at least {1 - problem.delta:g}, {meaning}{self.within}."

    def _average(self, problem: Problem, reached: float) -> str:
        return (
            f"Among {self.among}, at most {100 * problem.delta:g} % end with a selection "
            f"whose mean true accuracy is more than {reached:g} below that of the {problem.k} "
            "best. This is an average over such pools, not a promise for every pool."
        )

    def _because(self) -> str:
        return f": {self.note}" if self.note else ""

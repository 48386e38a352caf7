"""What an algorithm promises, in words that can stand next to a number."""

from dataclasses import dataclass
from enum import StrEnum

from .problem import Problem


class Goal(StrEnum):
    EXACT = "exact"
    EXPLORE_K = "explore-k"
    AGGREGATE = "aggregate"
    NONE = "none"


MEANING = {
    Goal.EXACT: "the workers selected are the best {k}",
    Goal.EXPLORE_K: (
        "every worker selected is, in true accuracy, within {epsilon:g} of the {ordinal} best"
    ),
    Goal.AGGREGATE: (
        "the mean true accuracy of the {k} workers selected is within {epsilon:g} "
        "of that of the {k} best"
    ),
}

ASSUMPTIONS = (
    "Assumes that a worker's answers are independent of each other, that questions come in random "
    "order, and that the pool stays the same during the run."
)


def ordinal(number: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 <= number % 100 <= 20 else suffix}"


@dataclass(frozen=True)
class Promise:
    """goal       which regret is bounded
    fixed      what is fixed beforehand: "confidence" (delta) or "budget"
    citation   where the promise is proved
    """

    goal: Goal
    fixed: str
    citation: str

    def sentence(self, problem: Problem, epsilon: float | None = None) -> str:
        """The promise for this problem, or for the ``epsilon`` that holds by now."""
        if self.goal is Goal.NONE or self.fixed == "budget":
            return f"The {problem.k} workers that look best when the budget is spent; no promise."
        reached = problem.epsilon if epsilon is None else epsilon
        meaning = MEANING[self.goal].format(
            k=problem.k, epsilon=reached, ordinal=ordinal(problem.k)
        )
        return f"With probability at least {1 - problem.delta:g}, {meaning}."

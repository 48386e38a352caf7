"""The guarantees of algorithms, in words that can stand next to a number."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil

from .problem import Problem


class Doubt(str):
    """A sentence on a doubt about a guarantee, with the code of its cause."""

    code: str

    def __new__(cls, code: str, sentence: str) -> "Doubt":
        doubt = super().__new__(cls, sentence)
        doubt.code = code
        return doubt

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.code, str(self)


class Goal(StrEnum):
    EXACT = "exact"
    EXPLORE_K = "explore-k"
    AGGREGATE = "aggregate"
    MARK = "mark"
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
MEANING_OF_ONE = {
    Goal.EXACT: "the worker selected is the best",
    Goal.EXPLORE_K: "the worker selected is, in {measure}, within {epsilon:g} of the best",
    Goal.AGGREGATE: (
        "the {measure} of the worker selected is within {epsilon:g} of that of the best"
    ),
}

ASSUMPTIONS = (
    "Assumes that a worker's answers are independent of each other, that questions come in random "
    "order, and that the pool stays the same during the run."
)

GUARANTEE_LOST = (
    "No guarantee after these changes of the roster: workers left, were withdrawn or joined after "
    "answers had counted, so the roster may depend on the answers, and the proof does not allow it."
)


def ordinal(number: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 <= number % 100 <= 20 else suffix}"


def rounded_up(epsilon: float) -> float:
    """Round ε up to three places, at most 1, so that the statement still holds.

    An excess over a thousandth of less than 1e-12 is from rounding alone.
    """
    return min(1.0, ceil(epsilon * 1000 - 1e-9) / 1000)


@dataclass(frozen=True)
class Promise:
    """The guarantee of an algorithm.

    goal       the regret that is bounded
    fixed      the quantity fixed beforehand: "confidence" (delta) or "budget"
    citation   the source of the proof
    early      the regret that the gap bounds if an exact run ends early
    note       the reason for no guarantee, if one could be expected
    within     the allowed selections, if not all
    measure    the quantity compared
    assumes    the assumptions
    average    True if it holds on average over pools like this one, not for every pool: never show
               it beside the others without saying so
    among      the pools over which it is an average
    limits     a sentence on which of these pools break it far more often than delta
    early_limits  the same of an epsilon above the wanted one
    mark       the pass mark of a goal of this name; None if it is not known yet
    mean_share  True if delta bounds the mean share of the selected below the mark
    at_the_stop  True if it covers the stop only: the figure of an earlier look must not be kept
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
    limits: str = ""
    early_limits: str = ""
    at_the_stop: bool = False
    mark: float | None = None
    mean_share: bool = False

    def of_scores(self) -> "Promise":
        """State the same guarantee about true scores, the means, in place of accuracies."""
        return replace(self, measure=self.measure.replace("accuracy", "score"))

    def sentence(self, problem: Problem, epsilon: float | None = None) -> str:
        """Word the guarantee for this problem, or for the ``epsilon`` that holds now."""
        looks_best = "worker that looks" if problem.k == 1 else f"{problem.k} workers that look"
        if self.fixed == "budget":
            return f"The {looks_best} best when the budget is spent; no guarantee."
        epsilon_reached = problem.epsilon if epsilon is None else epsilon
        goal = self.early if self.goal is Goal.EXACT and epsilon else self.goal
        if goal is Goal.NONE:
            return f"The {looks_best} best; no guarantee{self._because()}."
        if self.average:
            return self._average(problem, epsilon_reached)
        if goal is Goal.MARK:
            return self._of_mark(problem, epsilon_reached)
        meaning = (MEANING if problem.k > 1 else MEANING_OF_ONE)[goal].format(
            k=problem.k, epsilon=epsilon_reached, ordinal=ordinal(problem.k), measure=self.measure
        )
        return f"With probability at least {1 - problem.delta:g}, {meaning}{self.within}."

    def _of_mark(self, problem: Problem, epsilon: float) -> str:
        alone = problem.k == 1
        who = "the worker selected, if any," if alone else "every worker selected"
        most = "" if alone else f" At most {problem.k} workers are selected."
        least = "the pass mark less ε"
        if self.mark is not None:
            least = f"{self.mark - epsilon:g}"
            least += f", the pass mark {self.mark:g} less ε" if epsilon else ", the pass mark"
        measure = f"{'an' if self.measure[0] in 'aeiou' else 'a'} {self.measure}"
        if self.mean_share and not alone:
            return (
                f"On average, at most {100 * problem.delta:g} % of the workers selected have "
                f"{measure} below {least}.{most}"
            )
        return (
            f"With probability at least {1 - problem.delta:g}, {who} has "
            f"{measure} of at least {least}.{most}"
        )

    def _average(self, problem: Problem, epsilon: float) -> str:
        best = "best" if problem.k == 1 else f"{problem.k} best"
        sentence = (
            f"Among {self.among}, at most {100 * problem.delta:g} % end with a selection "
            f"whose mean true accuracy is more than {epsilon:g} below that of the {best}. "
            "This is an average over such pools, not a guarantee for every pool."
        )
        early = self.early_limits if epsilon > problem.epsilon else ""
        return " ".join(filter(None, (sentence, self.limits, early)))

    def _because(self) -> str:
        return f": {self.note}" if self.note else ""

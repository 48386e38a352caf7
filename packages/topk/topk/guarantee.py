"""The guarantees of algorithms: codes, numbers and the one sentence that states them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
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
    Goal.EXACT: "the {k} selected are the best {k}{covered}{measure}{within}",
    Goal.EXPLORE_K: "each selected worker is at most {loss} the {kth} best{covered}"
    "{measure}{within}",
    Goal.AGGREGATE: "the {k} selected are on average at most {loss} the best {k}{covered}"
    "{measure}{within}",
}
MEANING_OF_ONE = {
    Goal.EXACT: "the selected one is the best{covered}{measure}{within}",
    **dict.fromkeys(
        (Goal.EXPLORE_K, Goal.AGGREGATE),
        "the selected one is at most {loss} the best{covered}{measure}{within}",
    ),
}
USUAL_MEASURE = "true accuracy"

ASSUMPTIONS = (
    "Assumes that a worker's answers are independent of each other and of those of other workers, "
    "that questions come in random order, and that the pool stays the same during the run."
)

GUARANTEE_LOST = (
    "No guarantee after these changes of the roster: workers left, were withdrawn or joined after "
    "answers had counted, so the roster may depend on the answers, which no guarantee covers."
)


def ordinal(number: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 <= number % 100 <= 20 else suffix}"


def rounded_up(epsilon: float) -> float:
    """Round ε up to three places, at most 1, so that the statement still holds.

    An excess over a thousandth of less than 1e-12 is from rounding alone.
    """
    return min(1.0, ceil(epsilon * 1000 - 1e-9) / 1000)


def describe_covered(present: int, total: int, stopped: bool) -> str:
    """Name the workers that a guarantee is about at the end; empty if they are all of the run.

    stopped  True if some of the others gave answers that counted, and left
    """
    if present == total:
        return ""
    return f" of the {present} who took part{' to the end' if stopped else ''}"


class Numbers:
    """The numbers of a sentence, written neutrally; an application may write its viewer's."""

    def percent(self, share: Decimal) -> str:
        return f"{_plain(100 * share)}%"

    def points(self, difference: Decimal) -> str:
        """Write a difference of shares in percentage points, with the noun: 9.6 points."""
        points = _plain(100 * difference)
        return f"{points} point{'' if points == '1' else 's'}"


NEUTRAL = Numbers()


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _exact(number: float) -> Decimal:
    """Take the decimal that a person wrote: 0.3, not the nearest binary fraction."""
    return Decimal(f"{number:.10g}")


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of an algorithm.

    goal       the regret that is bounded
    fixed      the quantity fixed beforehand: "confidence" (delta) or "budget"
    citation   the source of the proof
    early      the regret that the gap bounds if an exact run ends early
    note       the reason for no guarantee, if one could be expected
    within     the allowed selections, if not all
    covered    the workers that it is about, if not all: `` of the 27 who took part``
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
    covered: str = ""
    measure: str = USUAL_MEASURE
    assumes: str = ASSUMPTIONS
    average: bool = False
    among: str = "pools like this one"
    limits: str = ""
    early_limits: str = ""
    at_the_stop: bool = False
    mark: float | None = None
    mean_share: bool = False

    def of_scores(self) -> "Guarantee":
        """State the same guarantee about true scores, the means, in place of accuracies."""
        return replace(self, measure=self.measure.replace("accuracy", "score"))

    @property
    def bounds_early(self) -> bool:
        """True if the gap bounds a loss before the algorithm has stopped by itself."""
        goal = self.early if self.goal is Goal.EXACT else self.goal
        return self.fixed == "confidence" and goal not in (Goal.NONE, Goal.MARK)

    def sentence(
        self, problem: Problem, epsilon: float | None = None, numbers: Numbers = NEUTRAL
    ) -> str:
        """Word the guarantee for this problem, or for the ``epsilon`` that holds now."""
        looks_best = "worker that looks" if problem.k == 1 else f"{problem.k} workers that look"
        if self.fixed == "budget":
            return f"The {looks_best} best when the budget is spent; no guarantee."
        goal = self.early if self.goal is Goal.EXACT and epsilon else self.goal
        if goal is Goal.NONE:
            because = f": {self.note}" if self.note else ""
            return f"The {looks_best} best; no guarantee{because}."
        reached = problem.epsilon if epsilon is None else epsilon
        sure = numbers.percent(1 - _exact(problem.delta))
        if goal is Goal.MARK:
            return self._state_mark(problem, reached, sure, numbers)
        values = self._word_values(problem, reached, numbers)
        meaning = (MEANING if problem.k > 1 else MEANING_OF_ONE)[goal].format(**values)
        if not self.average:
            return f"With probability at least {sure}, {meaning}."
        parts = [
            f"For at least {sure} of {self.among}, {meaning}.",
            "This is an average over such pools, not a guarantee for every pool.",
            self.limits,
            self.early_limits if reached > problem.epsilon else "",
        ]
        return " ".join(filter(None, parts))

    def _word_values(
        self, problem: Problem, epsilon: float, numbers: Numbers
    ) -> Mapping[str, object]:
        loss = f"{numbers.points(_exact(epsilon))} less accurate than"
        if "accuracy" not in self.measure:
            loss = f"{epsilon:g} below"
        return {
            "k": problem.k,
            "kth": ordinal(problem.k),
            "loss": loss,
            "covered": self.covered,
            "measure": "" if self.measure == USUAL_MEASURE else f", in {self.measure}",
            "within": self.within,
        }

    def _state_mark(self, problem: Problem, epsilon: float, sure: str, numbers: Numbers) -> str:
        alone = problem.k == 1
        who = "the selected worker, if any," if alone else "each selected worker"
        most = "" if alone else f" At most {problem.k} workers are selected."
        measure = f"{'an' if self.measure[0] in 'aeiou' else 'a'} {self.measure}"
        least = self._word_least(epsilon, numbers)
        if self.mean_share and not alone:
            share = numbers.percent(_exact(problem.delta))
            return (
                f"On average, at most {share} of the selected workers have {measure} below "
                f"{least}.{most}"
            )
        return f"With probability at least {sure}, {who} has {measure} of at least {least}.{most}"

    def _word_least(self, epsilon: float, numbers: Numbers) -> str:
        """Word the least accuracy that is shown: the pass mark less ε, which is not the mark."""
        if self.mark is None:
            return "the pass mark less ε"
        mark, least = _exact(self.mark), _exact(self.mark) - _exact(epsilon)
        written = numbers.percent if "accuracy" in self.measure else _plain
        if not epsilon:
            return f"{written(mark)}, the pass mark"
        return f"{written(least)}, the pass mark of {written(mark)} less ε"

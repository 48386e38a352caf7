"""The algorithm of a study, on the candidates that are left."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topk.accuracy import LIKE_THESE, MOST_QUESTIONS, THIS_SET
from topk.groups import check_groups
from topk.guarantee import Guarantee
from topk.prices import check_prices
from topk.problem import Problem, ProblemError
from topk.registry import (
    COMMON_ORDER_SELECTORS,
    SELECTORS,
    build_selector,
    score_options,
)
from topk.roster import (
    RunStart,
    is_guarantee_lost,
    plan_options,
    restrict_options,
    share_left,
)
from topk.selector import Counts, Floats, Selector
from topk.state import State

KINDS = SELECTORS | COMMON_ORDER_SELECTORS


@dataclass(frozen=True)
class Rule:
    """The algorithm's name and options, the problem of all n candidates, and a limit of results."""

    algorithm: str
    problem: Problem
    options: dict[str, Any]
    scores: bool
    budget: int | None

    @property
    def kind(self) -> type[Selector]:
        return KINDS[self.algorithm]

    def build(self, roster: Counts, pulls: Counts, rewards: Floats, out: Counts) -> Selector:
        """Build the algorithm, before its first pull, on the candidates (r,) of the roster.

        pulls, rewards, out  (n,) counted results, their sums, outstanding results
        """
        absent, state = self._absent_of(roster), State.fresh(roster.size)
        leavers = absent & ((pulls > 0) | (out > 0))
        state.gone = np.array([rewards[leavers], pulls[leavers], out[leavers]], np.float64)
        groups = self.options.get("groups")
        state.gone_groups = tuple(groups[i] for i in np.flatnonzero(leavers)) if groups else ()
        options = restrict_options(self.options, roster, self.problem.k)
        options |= plan_options(self.kind, self.problem.n, roster.size)
        delta = self.problem.delta * share_left(absent, pulls)
        problem = replace(self.problem, n=roster.size, delta=delta)
        return build_selector(self.algorithm, problem, state, **options)

    def loses_guarantee(self, roster: Counts, pulls: Counts) -> bool:
        """Tell if candidates were set aside and the algorithm's proof does not allow it."""
        kind, problem = self.kind, self.problem
        limits = problem.epsilon, problem.delta
        covers = RunStart(kind, problem.n, [problem.k], limits, self.options).covers_withdrawal
        return is_guarantee_lost(kind, self._absent_of(roster), pulls, covers_withdrawal=covers)

    def describe(self, guarantee: Guarantee, epsilon: float | None) -> str:
        guarantee = guarantee.of_scores() if self.scores else guarantee
        return guarantee.sentence(self.problem, epsilon)

    def _absent_of(self, roster: Counts) -> Any:
        return ~np.isin(np.arange(self.problem.n), roster)


def choose_rule(
    algorithm: str,
    problem: Problem,
    items: int | None,
    accuracy: str | None,
    scores: bool,
    options: dict[str, Any],
) -> Rule:
    """Choose the rule with the options that follow from the items, None if without an end.

    Raises KeyError for an unknown algorithm, and ProblemError for one that cannot be run.
    """
    if algorithm not in KINDS:
        raise KeyError(f"There is no algorithm {algorithm!r}; there are {', '.join(KINDS)}.")
    costs = check_prices(options.pop("prices"), problem.n)
    groups = check_groups(options.pop("groups"), problem.n)
    options |= {} if costs is None else {"prices": costs.tolist()}
    options |= {} if groups is None else {"groups": list(groups)}
    options |= score_options(algorithm) if scores else {}
    options |= _accuracy_options(algorithm, items, accuracy, scores)
    build_selector(algorithm, problem, **options)  # checks them
    if "budget" in KINDS[algorithm].needs:
        return Rule(algorithm, problem, options, scores, None)
    return Rule(algorithm, replace(problem, budget=None), options, scores, problem.budget)


def _accuracy_options(
    algorithm: str, items: int | None, accuracy: str | None, scores: bool
) -> dict[str, Any]:
    """Choose the options of accuracy: on this very set by default, if the algorithm can."""
    kind = KINDS[algorithm]
    if not kind.says_accuracy:
        if accuracy == THIS_SET:
            raise ProblemError(f"{kind.title} does not know accuracy {THIS_SET}: choose certified.")
        return {}
    if accuracy is None:
        countable = items is not None and items <= MOST_QUESTIONS and not scores
        accuracy = THIS_SET if countable else LIKE_THESE
    return {"accuracy": accuracy, "questions": items if accuracy == THIS_SET else None}

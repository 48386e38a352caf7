"""Rows of the table: the results of an algorithm on a case."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from research.intervals import share_interval
from topk import SELECTORS, Goal

from .cases import Case
from .measure import MeasuredRun

ROUNDING = 1e-9
AVERAGE = "on average"


@dataclass(frozen=True)
class Row:
    """A line of the table.

    promise      its goal: exact, explore-k, aggregate, perhaps on average over pools; or none
    runs         number of runs
    capped       runs given up at ``cap`` answers, without a guarantee
    violations   other runs that missed the goal
    rate         violations per run that ended; low and high: its exact 99 % interval
    answers      mean of all runs (at the least, if some are capped); answers_95: 95 % quantile
    aggregate    mean and most of both regrets, of all runs
    skipped      the reason if there are no runs
    """

    case: str
    title: str
    n: int
    k: int
    epsilon: float
    delta: float
    algorithm: str
    promise: str
    runs: int = 0
    capped: int = 0
    cap: int = 0
    violations: int = 0
    rate: float = float("nan")
    low: float = 0.0
    high: float = 1.0
    answers: float = float("nan")
    answers_95: float = float("nan")
    aggregate: float = float("nan")
    aggregate_most: float = float("nan")
    explore_k: float = float("nan")
    explore_k_most: float = float("nan")
    skipped: str = ""

    @property
    def ended(self) -> int:
        """The number of runs that stopped by themselves."""
        return self.runs - self.capped

    @property
    def broken(self) -> bool:
        """True if more runs missed the goal than delta and chance allow."""
        return self.promise != Goal.NONE and self.low > self.delta


def row_of(case: Case, algorithm: str, runs: Sequence[MeasuredRun], cap: int) -> Row:
    """Return the row of these runs, at least one."""
    row = replace(_empty_row(case, algorithm), runs=len(runs), cap=cap)
    return replace(
        row, **_miss_columns(runs, goal_of(algorithm), case.epsilon), **_size_columns(runs)
    )


def row_without_runs(case: Case, algorithm: str, why: str) -> Row:
    """Return the row of an algorithm that cannot be run on this case."""
    return replace(_empty_row(case, algorithm), skipped=why)


def _empty_row(case: Case, algorithm: str) -> Row:
    head = (case.name, case.title, case.n, case.k, case.epsilon, case.delta)
    return Row(*head, algorithm, goal_text(algorithm))


def _miss_columns(runs: Sequence[MeasuredRun], goal: Goal, epsilon: float) -> dict[str, Any]:
    ended = [run for run in runs if not run.capped]
    counts: dict[str, Any] = {"capped": len(runs) - len(ended)}
    if not ended or goal is Goal.NONE:
        return counts
    wrong = sum(is_missed(run, goal, epsilon) for run in ended)
    low, high = share_interval(wrong, len(ended))
    return counts | {"violations": wrong, "rate": wrong / len(ended), "low": low, "high": high}


def _size_columns(runs: Sequence[MeasuredRun]) -> dict[str, Any]:
    answers = np.array([run.answers for run in runs])
    aggregate = np.array([run.aggregate for run in runs])
    explore_k = np.array([run.explore_k for run in runs])
    return {
        "answers": float(answers.mean()),
        "answers_95": float(np.quantile(answers, 0.95)),
        "aggregate": float(aggregate.mean()),
        "aggregate_most": float(aggregate.max()),
        "explore_k": float(explore_k.mean()),
        "explore_k_most": float(explore_k.max()),
    }


def goal_of(algorithm: str) -> Goal:
    """Return the goal by which its runs are judged, guaranteed or not."""
    return SELECTORS[algorithm].guarantee.goal


def goal_text(algorithm: str) -> str:
    """Return the goal that it guarantees; none for a fixed budget."""
    promise = SELECTORS[algorithm].guarantee
    goal = Goal.NONE if promise.fixed == "budget" else promise.goal
    return f"{goal}, {AVERAGE}" if getattr(promise, "average", False) else goal.value


def is_missed(run: MeasuredRun, goal: Goal, epsilon: float) -> bool:
    """Return True if the regret is above what the goal allows; exact: any set of greatest sum."""
    allowed = ROUNDING + (0.0 if goal is Goal.EXACT else epsilon)
    regret = run.explore_k if goal is Goal.EXPLORE_K else run.aggregate
    return regret > allowed

"""What the runs of a cell come to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from research.intervals import of_share
from topk import SELECTORS, Goal

from .cases import Case
from .measure import Cell, Run

ROUNDING = 1e-9
AVERAGE = "on average"


@dataclass(frozen=True)
class Row:
    """A line of the table.

    promise      the goal it promises: exact, explore-k, aggregate, perhaps only on average over
                 pools; none without a promise
    runs         made
    capped       of them given up at ``cap`` answers, which promises nothing
    violations   of the others that missed the goal
    rate         violations a run that ended; low and high: its exact 99 % interval
    answers      mean of all runs (at the least, if some are capped); answers_95: 95 % quantile
    aggregate    mean and most of both regrets, of all runs
    skipped      why there are no runs
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
        """Runs that stopped by themselves."""
        return self.runs - self.capped

    @property
    def broken(self) -> bool:
        """Whether more runs missed the goal than delta and chance allow."""
        return self.promise != Goal.NONE and self.low > self.delta


def row_of(cell: Cell, case: Case) -> Row:
    """The line of this cell."""
    asked = (case.name, case.title, case.n, case.k, case.epsilon, case.delta)
    if not cell.runs:
        return Row(*asked, cell.algorithm, promised(cell.algorithm), skipped=cell.skipped)
    row = Row(*asked, cell.algorithm, promised(cell.algorithm), len(cell.runs), cap=cell.cap)
    return replace(row, **_misses(cell, case), **_sizes(cell.runs))


def _misses(cell: Cell, case: Case) -> dict[str, Any]:
    goal = goal_of(cell.algorithm)
    ended = [run for run in cell.runs if not run.capped]
    counts: dict[str, Any] = {"capped": len(cell.runs) - len(ended)}
    if not ended or goal is Goal.NONE:
        return counts
    wrong = sum(missed(run, goal, case.epsilon) for run in ended)
    low, high = of_share(wrong, len(ended))
    return counts | {"violations": wrong, "rate": wrong / len(ended), "low": low, "high": high}


def _sizes(runs: Sequence[Run]) -> dict[str, Any]:
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
    """The goal its runs are judged by, promised or not."""
    return SELECTORS[algorithm].promise.goal


def promised(algorithm: str) -> str:
    """The goal it promises to reach; none for a fixed budget, which promises nothing."""
    promise = SELECTORS[algorithm].promise
    goal = Goal.NONE if promise.fixed == "budget" else promise.goal
    return f"{goal}, {AVERAGE}" if getattr(promise, "average", False) else goal.value


def missed(run: Run, goal: Goal, epsilon: float) -> bool:
    """Whether the selection is further off than the goal allows.

    The exact best is any selection of the best sum, so that ties are nobody's fault.
    """
    allowed = ROUNDING + (0.0 if goal is Goal.EXACT else epsilon)
    regret = run.explore_k if goal is Goal.EXPLORE_K else run.aggregate
    return regret > allowed

"""One algorithm on one case, run after run.

Run i of a case always has the same pool and the same seed: more runs only add to fewer.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from topk import SELECTORS, Goal, ProblemError, Selector
from topk.simulate import PULLS_CAP, Outcome, play

from .cases import Case, Floats

LEAST_RUNS = 5
BUDGET_PER_WORKER = 20
EXACT_SHARE = 6


@dataclass(frozen=True)
class Effort:
    """runs     of every algorithm on every case
    seconds  of processor time a cell may take before its runs are cut to LEAST_RUNS or more
    cap      answers after which a run is given up; a sixth of it for those that want the exact
             best, which may never be told from a tie
    """

    runs: int
    seconds: float
    cap: int

    def cap_for(self, selector: type[Selector]) -> int:
        return self.cap // EXACT_SHARE if selector.promise.goal is Goal.EXACT else self.cap


FULL = Effort(runs=200, seconds=1.0, cap=3_000_000)
QUICK = Effort(runs=2, seconds=math.inf, cap=30_000)


@dataclass(frozen=True)
class Run:
    """answers    used in all
    aggregate  mean accuracy of the best k less that of the chosen k
    explore_k  accuracy of the k-th best less that of the worst chosen, at least 0
    capped     whether it was given up at the cap, without a promise
    """

    answers: int
    aggregate: float
    explore_k: float
    capped: bool


@dataclass(frozen=True)
class Cell:
    """What an algorithm did on a case: its runs, or the sentence why it was not run."""

    case: str
    algorithm: str
    cap: int
    runs: tuple[Run, ...] = ()
    skipped: str = ""


Played = Callable[[Case, str, int, int], Run]  # case, algorithm, number of the run, cap


def at_leisure(case: Case, algorithm: str, number: int, cap: int) -> Run:
    """Answers are drawn as the algorithm's paper draws them, and come at once."""
    means = case.means(number)
    outcome = play(algorithm, means, seed=number, max_pulls=cap, **asked(case, algorithm))
    return score(outcome, means)


def measure(case: Case, algorithm: str, effort: Effort, played: Played = at_leisure) -> Cell:
    """Play as many runs as the effort allows, or say why it cannot be."""
    cap = effort.cap_for(SELECTORS[algorithm])
    try:
        runs = tuple(_runs(case, algorithm, effort, cap, played))
    except ProblemError as error:
        return Cell(case.name, algorithm, cap, skipped=str(error))
    return Cell(case.name, algorithm, cap, runs)


def budget_of(selector: type[Selector], n: int) -> int | None:
    """What an algorithm that needs a budget is given."""
    return BUDGET_PER_WORKER * n if "budget" in selector.needs else None


def _runs(case: Case, algorithm: str, effort: Effort, cap: int, played: Played) -> Iterator[Run]:
    over = _clock(effort.seconds)
    capped = True
    for number in range(effort.runs):
        run = played(case, algorithm, number, cap)
        yield run
        capped &= run.capped
        if over() and (capped or number + 1 >= LEAST_RUNS):
            return


def _clock(seconds: float) -> Callable[[], bool]:
    started = time.process_time()
    return lambda: time.process_time() - started > seconds


def asked(case: Case, algorithm: str) -> dict[str, Any]:
    """What the algorithm is asked to do."""
    budget = budget_of(SELECTORS[algorithm], case.n)
    return {"k": case.k, "epsilon": case.epsilon, "delta": case.delta, "budget": budget}


def score(outcome: Outcome, means: Floats) -> Run:
    """Both regrets of what was chosen."""
    chosen = means[outcome.selection]
    best = np.sort(means)[-chosen.size :]
    aggregate = max(0.0, float(best.mean() - chosen.mean()))
    explore_k = max(0.0, float(best[0] - chosen.min()))
    return Run(outcome.pulls, aggregate, explore_k, PULLS_CAP in outcome.reasons)

"""Runs of one algorithm on one case.

Run i of a case always has the same pool and the same seed: a larger number only adds runs.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from research.cells import Floats
from topk import SELECTORS, Goal, Selector, simulate
from topk.simulate import PULLS_CAP, Outcome

from . import latency
from .cases import Case

LEAST_RUNS = 5
BUDGET_PER_WORKER = 20
EXACT_SHARE = 6


@dataclass(frozen=True)
class Effort:
    """runs     of every algorithm on every case
    seconds  of processor time a cell may take before its runs are cut to LEAST_RUNS or more
    cap      answers after which a run is given up; a sixth of it for those that want the exact
             best, which never end on a tie.
    """

    runs: int
    seconds: float
    cap: int

    def cap_for(self, algorithm: str) -> int:
        goal = SELECTORS[algorithm].guarantee.goal
        return self.cap // EXACT_SHARE if goal is Goal.EXACT else self.cap


FULL = Effort(runs=200, seconds=1.0, cap=3_000_000)
QUICK = Effort(runs=2, seconds=math.inf, cap=30_000)


@dataclass(frozen=True)
class MeasuredRun:
    """The result of one run.

    answers    counted in all
    aggregate  mean accuracy of the best k less that of the chosen k
    explore_k  accuracy of the k-th best less that of the worst chosen, at least 0
    capped     True if it was given up at the cap, without a guarantee
    """

    answers: int
    aggregate: float
    explore_k: float
    capped: bool


def measure_runs(case: Case, algorithm: str, effort: Effort) -> Iterator[MeasuredRun]:
    """Yield runs within the effort. Raises ProblemError if the algorithm cannot be run."""
    over = processor_clock(effort.seconds)
    capped = True
    for number in range(effort.runs):
        played = play_run(case, algorithm, number, effort.cap_for(algorithm))
        yield played
        capped &= played.capped
        if over() and (capped or number + 1 >= LEAST_RUNS):
            return


def processor_clock(seconds: float) -> Callable[[], bool]:
    """Return a function that is True once this much processor time has passed."""
    started = time.process_time()
    return lambda: time.process_time() - started > seconds


def play_run(case: Case, algorithm: str, number: int, cap: int) -> MeasuredRun:
    """Return the result of run ``number``, with the sampling of the paper or the case's crowd."""
    means, arguments = case.means(number), build_problem_arguments(case, algorithm)
    if case.manner is None:
        outcome = simulate.simulate_run(algorithm, means, seed=number, max_pulls=cap, **arguments)
        return score_selection(outcome, means)
    outcome = latency.play_with_latency(
        algorithm, means, case.manner, case.at_once, cap, number, **arguments
    )
    return score_selection(outcome, case.manner.in_time(means))


def budget_of(selector: type[Selector], n: int) -> int | None:
    """Return the budget; None for an algorithm that needs none."""
    return BUDGET_PER_WORKER * n if "budget" in selector.needs else None


def build_problem_arguments(case: Case, algorithm: str) -> dict[str, Any]:
    """Return the arguments of the problem."""
    budget = budget_of(SELECTORS[algorithm], case.n)
    return {"k": case.k, "epsilon": case.epsilon, "delta": case.delta, "budget": budget}


def score_selection(outcome: Outcome, means: Floats) -> MeasuredRun:
    """Return both regrets of the selection."""
    chosen = means[outcome.selection]
    best = np.sort(means)[-chosen.size :]
    aggregate = max(0.0, float(best.mean() - chosen.mean()))
    explore_k = max(0.0, float(best[0] - chosen.min()))
    return MeasuredRun(outcome.pulls, aggregate, explore_k, PULLS_CAP in outcome.reasons)

"""A cell of the table: one algorithm on one instance of a paper."""

import json
import zlib
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research import intervals
from topk import Problem
from topk.registry import build_selector
from topk.simulate import PULLS_CAP, simulate_run

from .rows import Row

NONE = -1  # the budget of an algorithm that stops by itself
CAP_PER_ARM = 20_000  # a play is given up here, because some algorithms need not end
ROUNDING = 1e-9


@dataclass(frozen=True)
class Cell:
    """budgets    one; for ``anytime`` several
    anytime    True if choices do not depend on the budget: one play then serves all budgets
    tolerance  a play fails if its selection's mean is worse than the best by more.
    """

    experiment: str
    series: str
    algorithm: str
    means: tuple[float, ...]
    k: int
    runs: int
    delta: float = 0.01
    tolerance: float = 0.0
    budgets: tuple[int, ...] = (NONE,)
    anytime: bool = False
    gaussian: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.means)

    @property
    def seed(self) -> int:
        """The seed, by the experiment."""
        what = [self.experiment, self.series, self.algorithm, self.n, self.k, *self.budgets]
        return zlib.crc32(json.dumps([what, self.options]).encode())

    @property
    def title(self) -> str:
        return f"{self.series} on {self.experiment}"

    @property
    def key(self) -> str:
        return f"{self.seed}, {self.runs}"

    def play(self) -> list[Row]:
        """Return a row for each budget."""
        once = partial(_anytime_plays, self) if self.anytime else partial(_single_plays, self)
        plays = [once((self.seed << 20) + number) for number in range(self.runs)]
        looks = zip(*plays, strict=True)
        return [
            _cell_row(self, budget, look) for budget, look in zip(self.budgets, looks, strict=True)
        ]


@dataclass(frozen=True)
class Play:
    pulls: int
    failed: bool
    finished: bool


def _single_plays(cell: Cell, seed: int) -> list[Play]:
    """Play to the end."""
    (budget,) = cell.budgets
    outcome = simulate_run(
        cell.algorithm,
        cell.means,
        k=cell.k,
        delta=cell.delta,
        budget=None if budget == NONE else budget,
        max_pulls=CAP_PER_ARM * cell.n,
        seed=seed,
        gaussian=cell.gaussian,
        **cell.options,
    )
    finished = PULLS_CAP not in outcome.reasons
    failed = not finished or falls_short(cell, outcome.selection)
    return [Play(outcome.pulls, failed, finished)]


def _anytime_plays(cell: Cell, seed: int) -> list[Play]:
    """Play once, and judge the selection at each budget; with epsilon 0 it does not stop."""
    rng = np.random.default_rng(seed)
    means, place = np.array(cell.means), rng.permutation(cell.n)
    problem = Problem(cell.n, cell.k, 0.0, cell.delta, None)
    selector = build_selector(cell.algorithm, problem, **cell.options)
    plays = []
    for budget in cell.budgets:
        selector.simulate(means[place], budget, cell.gaussian, rng)
        failed = falls_short(cell, place[selector.selection()])
        plays.append(Play(int(selector.state.pulls.sum()), failed, True))
    return plays


def falls_short(cell: Cell, selection: NDArray[np.int64]) -> bool:
    """Return True if the set's mean is worse than the tolerance allows."""
    means = np.array(cell.means)
    best = np.sort(means)[-cell.k :].mean()
    return bool(best - means[selection].mean() > cell.tolerance + ROUNDING)


def _cell_row(cell: Cell, budget: int, plays: tuple[Play, ...]) -> Row:
    failures = sum(play.failed for play in plays)
    error_low, error_high = intervals.share_interval(failures, cell.runs)
    pulls, pulls_se, pulls_low, pulls_high = intervals.mean_interval(
        [play.pulls for play in plays if play.finished]
    )
    return Row(
        experiment=cell.experiment,
        series=cell.series,
        algorithm=cell.algorithm,
        options=json.dumps(cell.options) if cell.options else "",
        n=cell.n,
        k=cell.k,
        budget=budget,
        runs=cell.runs,
        failures=failures,
        unfinished=sum(not play.finished for play in plays),
        error=failures / cell.runs,
        error_low=error_low,
        error_high=error_high,
        pulls=pulls,
        pulls_se=pulls_se,
        pulls_low=pulls_low,
        pulls_high=pulls_high,
        seed=cell.seed,
    )

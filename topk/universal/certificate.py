"""What is certified of a selection, whatever the population: docs/universal.md, sections 2 to 4."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from .bounds import ROUNDING
from .likelihood import INSIDE, OUTSIDE, WITHDRAWN, log_likelihoods
from .reference import NODES, Reference, reference
from .search import epsilon_at, proved, proved_on_set, refined, search

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Chosen = NDArray[np.bool_]

COARSEST, FINEST, PER_ROOT = 48, 320, 5.0  # points of the grid; per root of the most answers
REFINEMENTS = 1
FIRST_LAMBDA = 24.0  # in units of root n / K
TANGENTS = np.linspace(-2.0, 2.0, 17)  # in units of 1 / deviation of the mean
PER_ANSWER = 1e-11  # nats of rounding


@dataclass(frozen=True)
class Tally:
    """Float (n,) right and wrong answers of the workers to choose from.

    gone_right, gone_wrong  (g,) of workers who gave answers and were withdrawn
    questions               0, or how many there are in the set that accuracy means
    """

    right: Floats
    wrong: Floats
    gone_right: Floats
    gone_wrong: Floats
    questions: int = 0

    @cached_property
    def reference(self) -> Reference:
        """Q of all these answers."""
        right, wrong, _, workers = self.rows(np.zeros(self.right.size, np.bool_))
        return reference(right, wrong, workers)

    def rows(self, chosen: Chosen) -> tuple[Floats, Floats, Counts, Floats]:
        """Return right, wrong, kinds and number of workers (G,), of those that are equal."""
        kinds = np.where(chosen, INSIDE, OUTSIDE)
        all_kinds = np.r_[kinds, np.full(self.gone_right.size, WITHDRAWN)]
        right, wrong = np.r_[self.right, self.gone_right], np.r_[self.wrong, self.gone_wrong]
        big = float(max(right.max(initial=0), wrong.max(initial=0)) + 1)
        key = (all_kinds * big + right) * big + wrong
        _, first, workers = np.unique(key, return_index=True, return_counts=True)
        return right[first], wrong[first], all_kinds[first], workers.astype(np.float64)


@dataclass(frozen=True)
class Bound:
    """A bound on the regret.

    rows        right, wrong, kinds, workers (G,)
    lam, c      where the bound is least
    grid        (M,) accuracies, with
    population  (M,) the worst population on them
    shift       what is added to the logarithms: of n, delta and rounding
    hint        less than any epsilon that is certified, but for rounding
    """

    tally: Tally
    rows: tuple[Floats, Floats, Counts, Floats]
    places: int
    pool: float
    shift: float
    lam: float
    c: float
    grid: Floats
    population: Floats
    hint: float

    def within(self, low: float, high: float) -> "Bound":
        """Return the least bound with c between these limits."""
        if low <= self.c <= high:
            return self
        right, wrong, kinds, workers = self.rows
        logs = log_likelihoods(right, wrong, self.grid, self.tally.questions)
        loss, x = self.shift - float(self.tally.reference.slices.max()), self.population.copy()
        place = (kinds, workers, self.grid, self.lam, float(np.clip(self.c, low, high)))
        limits = (self.places, loss, self.pool, x, low, high)
        hint, lam, c = search(logs, *place, *limits)
        return replace(self, lam=lam, c=c, population=x, hint=hint)

    @cached_property
    def tangents(self) -> tuple[Floats, Floats]:
        """Return (E,) slopes eta and (E,) heights.

        For a population with mean m, the logarithm of the probability of the answers together with
        a wrong selection is at most height + eta * m - lam * K * epsilon.
        """
        etas = _slopes(self.tally.reference.slices)
        prove = self._on_set if self.tally.questions else self._everywhere
        return etas, prove(etas)

    def _everywhere(self, etas: Floats) -> Floats:
        right, wrong, kinds, workers = self.rows
        fine, y = refined(self.grid, self.population, self.c)
        for _ in range(REFINEMENTS):
            logs = log_likelihoods(right, wrong, fine, 0)
            epsilon_at(logs, kinds, workers, fine, self.lam, self.c, 1, 0.0, self.pool, y)
            fine, y = refined(fine, y, self.c)
        return proved(right, wrong, kinds, workers, fine, y, self.lam, self.c, etas, self.pool)

    def _on_set(self, etas: Floats) -> Floats:
        right, wrong, kinds, workers = self.rows
        logs = log_likelihoods(right, wrong, self.grid, self.tally.questions)
        grid, y, pool = self.grid, self.population, self.pool
        return proved_on_set(logs, kinds, workers, grid, y.copy(), self.lam, self.c, etas, pool)

    def epsilon(self, slices: Floats) -> float:
        """Return the epsilon that is certified where the reference measure is ``slices`` (S,).

        Between two nodes the logarithm of the reference measure is at least the straight line.
        """
        etas, heights = self.tangents
        ends = heights[:, None] + etas[:, None] * NODES - slices
        worst = np.maximum(ends[:, :-1], ends[:, 1:]).min(0)
        epsilon = (float(worst.max()) + self.shift) / (self.lam * self.places)
        return float(np.clip(epsilon, 0, 1)) if np.isfinite(epsilon) else 1.0


def certified(tally: Tally, chosen: Chosen, k: int, delta: float, pool: bool = False) -> Bound:
    """Return what is certified of the regret of ``chosen`` (n,), k of the workers.

    pool  for every fixed pool instead of every population, for rules that ignore numbering
    """
    rows = right, wrong, kinds, workers = tally.rows(chosen)
    count = float(workers.sum()) if pool else 0.0
    margin = ROUNDING + PER_ANSWER * float(right.sum() + wrong.sum())
    shift = margin - math.log(delta) - (math.lgamma(count + 1) if pool else 0.0)
    grid, x = _start_population(int((right + wrong).max()), tally.questions)
    logs = log_likelihoods(right, wrong, grid, tally.questions)
    slices = tally.reference.slices
    loss = shift - float(slices.max())
    means = (tally.right + 1) / (tally.right + tally.wrong + 2)
    c = float(0.5 * (means[chosen].min() + means[~chosen].max()))
    lam = FIRST_LAMBDA * math.sqrt(workers.sum()) / k
    hint, lam, c = search(logs, kinds, workers, grid, lam, c, k, loss, count, x, 0.0, 1.0)
    # The population is held against the reference measure of its own mean, not the largest.
    hint -= (loss - shift + float(np.interp(grid @ x, NODES, slices))) / (lam * k)
    return Bound(tally, rows, k, count, shift, lam, c, grid, x, hint)


def _slopes(slices: Floats) -> Floats:
    """Return slopes in the mean of a population that bound what no population exceeds."""
    weight = np.exp(slices - slices.max())
    weight -= weight.min()
    total = max(float(weight.sum()), 1e-300)
    mean = float(weight @ NODES) / total
    deviation = math.sqrt(max(float(weight @ (NODES - mean) ** 2) / total, 1e-6))
    result: Floats = TANGENTS / deviation
    return result


@lru_cache(16)
def _spread(points: int) -> Floats:
    grid: Floats = np.sin(np.linspace(0, np.pi / 2, points)) ** 2
    grid[-1] = 1.0
    return grid


def _start_population(answers: int, questions: int) -> tuple[Floats, Floats]:
    """Return (M,) accuracies from 0 to 1, the finer the more answers a worker gave, and weights."""
    if questions:
        return np.arange(questions + 1) / questions, np.full(questions + 1, 1 / (questions + 1))
    points = 16 * math.ceil(PER_ROOT * math.sqrt(answers) / 16)
    grid = _spread(int(np.clip(points, COARSEST, FINEST)))
    x = np.zeros(grid.size)
    x[::3] = 1 / x[::3].size
    return grid, x

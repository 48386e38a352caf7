"""The certified bound of a selection, for every population: docs/universal.md, sections 2 to 4."""

import math
from collections.abc import Sequence
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
Rows = tuple[Floats, Floats, Counts, Floats]

COARSEST, FINEST, PER_ROOT = 48, 320, 5.0  # points of the grid; per root of the most answers
FIRST_LAMBDA = 24.0  # in units of root n / K
TANGENTS = np.linspace(-2.0, 2.0, 17)  # in units of 1 / deviation of the mean
PER_ANSWER = 1e-11  # nats of rounding


@dataclass(frozen=True)
class Tally:
    """Float (n,) right and wrong answers of the workers to choose from.

    gone_right, gone_wrong  (g,) of workers who gave answers and were withdrawn
    questions               0, or how many there are in the set that accuracy means
    groups                  numbers of the known groups of both (n,), (g,), each with a population
                            of its own; None for one population
    """

    right: Floats
    wrong: Floats
    gone_right: Floats
    gone_wrong: Floats
    questions: int = 0
    groups: tuple[Counts, Counts] | None = None

    @cached_property
    def members(self) -> list[tuple[Chosen, Chosen]]:
        """Of each group, who to choose from (n,) and who of the withdrawn (g,) belongs to it."""
        here, gone = self.groups or (np.zeros(self.right.size), np.zeros(self.gone_right.size))
        return [(here == number, gone == number) for number in np.union1d(here, gone)]

    @cached_property
    def parts(self) -> list["Tally"]:
        """The tally of each group."""
        return [
            Tally(
                self.right[here],
                self.wrong[here],
                self.gone_right[gone],
                self.gone_wrong[gone],
                self.questions,
            )
            for here, gone in self.members
        ]

    @cached_property
    def reference(self) -> Reference:
        """Q of all these answers, of one group."""
        right, wrong, _, workers = self.rows(np.zeros(self.right.size, np.bool_))
        return reference(right, wrong, workers)

    def rows(self, chosen: Chosen) -> Rows:
        """Return right, wrong, kinds and number of workers (G,), of those that are equal."""
        kinds = np.where(chosen, INSIDE, OUTSIDE)
        all_kinds = np.r_[kinds, np.full(self.gone_right.size, WITHDRAWN)]
        right, wrong = np.r_[self.right, self.gone_right], np.r_[self.wrong, self.gone_wrong]
        big = float(max(right.max(initial=0), wrong.max(initial=0)) + 1)
        key = (all_kinds * big + right) * big + wrong
        _, first, workers = np.unique(key, return_index=True, return_counts=True)
        return right[first], wrong[first], all_kinds[first], workers.astype(np.float64)


@dataclass(frozen=True)
class GroupBound:
    """The contribution of one population's workers to a bound on the regret.

    rows        right, wrong, kinds, workers (G,)
    lam, c      of the bound
    grid        (M,) accuracies, with
    population  (M,) the worst population on them
    """

    tally: Tally
    rows: Rows
    pool: float
    lam: float
    c: float
    grid: Floats
    population: Floats

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
        place, all_rows = (self.lam, self.c, 1, 0.0, self.pool), np.array([0, kinds.size])
        logs = log_likelihoods(right, wrong, fine, 0)
        epsilon_at(logs, kinds, workers, fine, *place, y, all_rows)
        fine, y = refined(fine, y, self.c)
        bounds: Floats = proved(*self.rows, fine, y, self.lam, self.c, etas, self.pool)
        return bounds

    def _on_set(self, etas: Floats) -> Floats:
        right, wrong, kinds, workers = self.rows
        logs = log_likelihoods(right, wrong, self.grid, self.tally.questions)
        place, y = (self.lam, self.c, etas, self.pool), self.population.copy()
        bounds: Floats = proved_on_set(logs, kinds, workers, self.grid, y, *place)
        return bounds

    def most(self, slices: Floats) -> float:
        """Return at least the largest difference to the reference measure ``slices`` (S,).

        Between two nodes the logarithm of the reference measure is at least the straight line.
        """
        etas, heights = self.tangents
        ends = heights[:, None] + etas[:, None] * NODES - slices
        return float(np.maximum(ends[:, :-1], ends[:, 1:]).min(0).max())


@dataclass(frozen=True)
class Bound:
    """A bound on the regret.

    groups  contribution of each group of workers
    places  K
    shift   sum that is added to the logarithms: of n, delta and rounding
    lam, c  where the bound is least
    hint    less than any epsilon that is certified, but for rounding
    """

    groups: tuple[GroupBound, ...]
    places: int
    shift: float
    lam: float
    c: float
    hint: float

    def within(self, low: float, high: float) -> "Bound":
        """Return the least bound with c between these limits."""
        if low <= self.c <= high:
            return self
        c = float(np.clip(self.c, low, high))
        return _least_bound(self.groups, self.places, self.shift, c, (low, high))

    def epsilon(self, *slices: Floats) -> float:
        """Return the epsilon that is certified where the reference measures are ``slices`` (S,).

        slices  of each group
        """
        worst = sum(group.most(own) for group, own in zip(self.groups, slices, strict=True))
        epsilon = (worst + self.shift) / (self.lam * self.places)
        return float(np.clip(epsilon, 0, 1)) if np.isfinite(epsilon) else 1.0


def certified(tally: Tally, chosen: Chosen, k: int, delta: float, pool: bool = False) -> Bound:
    """Return the certified bound on the regret of ``chosen`` (n,), k of the workers.

    pool  for every fixed pool instead of every population, for rules that ignore numbering
    """
    parts = [
        (part, part.rows(chosen[here]))
        for part, (here, _) in zip(tally.parts, tally.members, strict=True)
    ]
    assert len(parts) == 1 or not pool  # numberings move workers between groups
    count = float(parts[0][1][3].sum()) if pool else 0.0
    answers = [float(right.sum() + wrong.sum()) for _, (right, wrong, _, _) in parts]
    margin = len(parts) * ROUNDING + PER_ANSWER * sum(answers)
    shift = margin - math.log(delta) - (math.lgamma(count + 1) if pool else 0.0)
    most = max(int((right + wrong).max()) for _, (right, wrong, _, _) in parts)
    grid, x = _start_population(most, tally.questions)
    means = (tally.right + 1) / (tally.right + tally.wrong + 2)
    c = float(0.5 * (means[chosen].min() + means[~chosen].max()))
    lam = FIRST_LAMBDA * math.sqrt(tally.right.size + tally.gone_right.size) / k
    groups = tuple(GroupBound(part, rows, count, lam, c, grid, x) for part, rows in parts)
    return _least_bound(groups, k, shift, c, (0.0, 1.0))


def _least_bound(
    groups: Sequence[GroupBound],
    places: int,
    shift: float,
    c: float,
    limits: tuple[float, float],
) -> Bound:
    """Return the least bound that is found from this start, with c between the limits."""
    grid, pool, questions = groups[0].grid, groups[0].pool, groups[0].tally.questions
    right, wrong, kinds, workers = (
        np.concatenate(column) for column in zip(*(group.rows for group in groups), strict=True)
    )
    ends = np.cumsum([0, *(group.rows[0].size for group in groups)])
    logs = log_likelihoods(right, wrong, grid, questions)
    slices = [group.tally.reference.slices for group in groups]
    loss = shift - sum(float(own.max()) for own in slices)
    x = np.concatenate([group.population for group in groups])
    place = (kinds, workers, grid, groups[0].lam, c)
    hint, lam, c = search(logs, *place, places, loss, pool, x, ends, *limits)
    populations = x.reshape(len(groups), grid.size)
    # A population is held against the reference measure of its own mean, not the largest.
    held = sum(
        float(np.interp(own @ grid, NODES, heights))
        for own, heights in zip(populations, slices, strict=True)
    )
    hint -= (loss - shift + held) / (lam * places)
    found = tuple(
        replace(group, lam=lam, c=c, population=own)
        for group, own in zip(groups, populations, strict=True)
    )
    return Bound(found, places, shift, lam, c, hint)


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

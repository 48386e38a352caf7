"""The posterior of each worker, and of the regret of a choice, in closed form.

Given the population the workers are independent, so that means, P(accuracy > t) and the moments of
the regret's bound are sums over the grid's cells: matrix products of tallies x cells x populations.
No accuracy is ever drawn, and only the populations carry Monte Carlo error.
"""

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt

import numpy as np
import scipy
from numpy.typing import NDArray

from .grid import Floats, grid_for
from .groups import SMOOTH_MASS, two_group_populations
from .hidden_gaps import TORN_MASS, populations_with_gaps
from .moments import mass_beyond, reached_from_above, sum_cumulants
from .population import Population, Prior, luck

Counts = NDArray[np.int64]

LEAST_VARIANCE = 1e-12
LEAST_SUM_VARIANCE = 1e-18
LOG_NEGLIGIBLE = log(1e-3)  # of the largest weight
SKEWS = 1e-3, 2
CAUTION = 1.4  # with 1, 28 of 400 pools of Beta(1, 1) broke epsilon at delta = .05
ROUNDING = 1e-9


@dataclass(frozen=True)
class Draws:
    """Populations that may be the pool's.

    w        (R, M) cell probabilities
    logs     (R,) logs of their posterior probabilities, up to a constant
    random   (R,) True if drawn: the others are enumerated
    norm     (G, R) each tally's probability under each, as the likelihood is scaled
    borders  (R,) int, the cell that k workers are expected to reach
    """

    w: Floats
    logs: Floats
    random: NDArray[np.bool_]
    norm: Floats
    borders: Counts

    @cached_property
    def weight(self) -> Floats:
        return normalised_weights(self.logs)

    @property
    def two_groups(self) -> float:
        """The probability of the populations of two groups, which are enumerated."""
        return float(self.weight[~self.random].sum())

    @property
    def effective(self) -> float:
        """The number of independent draws they are worth; enumerated ones need none."""
        return float(1 / max((self.weight[self.random] ** 2).sum(), LEAST_VARIANCE))


@dataclass(frozen=True)
class Bound:
    """A sum U that is at least the regret, under each population. Arrays are (R,).

    rounds  number of times that populations were drawn
    """

    logs: Floats
    random: NDArray[np.bool_]
    mean: Floats
    sd: Floats
    skew: Floats
    rounds: int = 1

    def merged(self, other: "Bound") -> "Bound":
        """Compute the bound with the populations of another round added."""
        return Bound(
            np.r_[self.logs, other.logs],
            np.r_[self.random, other.random],
            np.r_[self.mean, other.mean],
            np.r_[self.sd, other.sd],
            np.r_[self.skew, other.skew],
            self.rounds + 1,
        )

    @cached_property
    def weight(self) -> Floats:
        """Posterior probabilities, sum 1: the more rounds, the less each draw counts."""
        return normalised_weights(self.logs - self.random * log(self.rounds))

    @cached_property
    def _caution(self) -> Floats:
        return np.where(self.random, CAUTION, 1)

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and deviation of U over all populations."""
        mean = float(self.weight @ self.mean)
        square = float(self.weight @ (self.mean**2 + self.sd**2))
        return mean, sqrt(max(square - mean**2, LEAST_VARIANCE))

    def tails(self, epsilon: float) -> Floats:
        """Compute P(U > epsilon) under each population."""
        return tail_probability((epsilon - self.mean) / self.sd, self.skew)

    def risk(self, epsilon: float) -> tuple[float, float]:
        """Find P(U > epsilon), and its standard error, which comes of the finite number of draws.

        The drawn populations, which are smooth, count CAUTION times: they are that much too sure.
        """
        tails = self.tails(epsilon) * self._caution
        risk = float(self.weight @ tails)
        deviations = self.weight * (tails - risk) * self.random
        return risk, float(np.sqrt(deviations @ deviations))


def normalised_weights(logs: Floats) -> Floats:
    """Compute (R,) weights with these logs, up to a factor, and sum 1."""
    weight: Floats = np.exp(logs - logs.max())
    weight /= weight.sum()
    return weight


def tail_probability(x: Floats, skew: Floats) -> Floats:
    """Compute P(standardised sum > x): Wilson and Hilferty's for a gamma of this skewness."""
    root = np.cbrt(np.maximum(skew * x / 2 + 1, 0))
    result: Floats = scipy.special.ndtr(-(6 / skew * (root - 1) + skew / 6))
    return result


@dataclass(frozen=True)
class AveragedPosterior:
    """The posteriors of all workers, averaged over populations.

    cells           (G, M) probabilities
    mean, variance  (G,)
    """

    posterior: "Posterior"
    cells: Floats

    @cached_property
    def mean(self) -> Floats:
        result: Floats = self.cells @ self.posterior.grid.theta
        return result

    @cached_property
    def variance(self) -> Floats:
        square = self.cells @ self.posterior.grid.theta**2
        result: Floats = np.maximum(square - self.mean**2, LEAST_VARIANCE)
        return result

    @cached_property
    def border(self) -> float:
        """The accuracy that k workers are expected to exceed, interpolated within a cell."""
        above = np.r_[np.cumsum((self.posterior.workers @ self.cells)[::-1])[::-1], 0.0]
        return float(np.interp(self.posterior.k, above[::-1], self.posterior.grid.edges[::-1]))

    def above(self, t: float) -> Floats:
        """Compute (n,) P(accuracy > t)."""
        low, high = self.posterior.grid.edges[:-1], self.posterior.grid.edges[1:]
        over = (np.maximum(high - t, 0) - np.maximum(low - t, 0)) / (high - low)
        result: Floats = (self.cells @ over)[self.posterior.group]
        return result

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Compute (n,) lower and upper ends of the central credible interval, rounded outwards to
        cells.
        """
        sums, last = np.cumsum(self.cells, 1), self.posterior.grid.theta.size - 1
        low = (sums < (1 - level) / 2).sum(1)
        high = (sums < (1 + level) / 2).sum(1)
        lower = self.posterior.grid.edges[:-1][np.minimum(low, last)]
        upper = self.posterior.grid.edges[1:][np.minimum(high, last)]
        return lower[self.posterior.group], upper[self.posterior.group]


class Posterior:
    """The posteriors of all workers; workers with equal tallies (a group) share one.

    group     (n,) each worker's group; right, answers, workers are (G,)
    draws     the populations considered; more can be drawn to determine the risk
    average   the average over them for each worker
    cautious  True if the drawn ones are also considered torn apart at their border
    """

    cautious = False

    def __init__(self, right: Floats, answers: Counts, prior: Prior, k: int, size: int) -> None:
        big = int(answers.max(initial=0)) + 1
        _, first, self.group, workers = np.unique(
            answers * big + right, return_index=True, return_inverse=True, return_counts=True
        )
        self.k, self.workers, self.size = k, workers.astype(float), size
        self.right, self.answers = right[first], answers[first].astype(float)
        self.grid = grid_for(big)
        self.population = Population(self.grid, prior, self.right, self.answers, self.workers)
        self.like = self.population.like
        self.draws = self._first()
        self.average = self.averaged(self.draws.weight)

    def _first(self) -> Draws:
        """Compute the likely populations of two groups, and the first drawn ones."""
        groups, population = (
            two_group_populations(self.grid, self.group.size, self.k),
            self.population,
        )
        fits = groups.fit(population.like)
        logs = groups.log_posterior(fits, population.workers)
        rows = np.flatnonzero(logs > logs.max() + LOG_NEGLIGIBLE)
        w, fit, drawn = self._drawn(0)
        w = np.vstack([groups.cells(rows, self.grid.theta.size), w])
        fit = np.hstack([fits[rows].T, fit])
        return self._draws(w, fit, np.r_[logs[rows], drawn], rows.size)

    def more(self, number: int) -> Draws:
        """Compute as many newly drawn populations, the same for equal numbers."""
        whole = self._draws(*self._drawn(number), 0)
        return self._add_torn(whole) if self.cautious else whole

    def fearing_gaps(self) -> "Posterior":
        """Compute the posterior with TORN_MASS of the prior on populations torn at the border."""
        feared = copy(self)
        feared.cautious = True
        feared.draws = self._add_torn(self.draws)
        feared.average = feared.averaged(feared.draws.weight)
        return feared

    def gap_odds(self) -> float:
        """Compute the odds of torn against whole smooth populations, given the answers; 1 if only
        populations of two groups are likely.
        """
        whole = self.draws.logs[self.draws.random]
        if not whole.size:
            return 1.0
        return float(
            np.exp(
                scipy.special.logsumexp(self._torn(self.draws)[2]) - scipy.special.logsumexp(whole)
            )
        )

    def _torn(self, whole: Draws) -> tuple[Floats, Floats, Floats]:
        """Compute the drawn populations torn, their fit, and the logs of their probabilities at an
        equal prior.
        """
        drawn, population = whole.random, self.population
        w = populations_with_gaps(self.grid, whole.w[drawn], whole.borders[drawn])
        fit, before = population.fit(w), population.fit(whole.w[drawn])
        logs = whole.logs[drawn] - population.log_likelihood(before)
        return w, fit, logs + population.log_likelihood(fit)

    def _add_torn(self, whole: Draws) -> Draws:
        w, fit, logs = self._torn(whole)
        w, fit = np.vstack([whole.w, w]), np.hstack([self.population.fit(whole.w), fit])
        logs = np.r_[whole.logs + log(1 - TORN_MASS), logs + log(TORN_MASS / SMOOTH_MASS)]
        return self._draws(w, fit, logs, int((~whole.random).sum()))

    def _drawn(self, number: int) -> tuple[Floats, Floats, Floats]:
        w, fit, logs = self.population.draw(luck((self.group.size, self.k, number), self.size))
        return w, fit, logs + log(SMOOTH_MASS / self.size)

    def _draws(self, w: Floats, fit: Floats, logs: Floats, known: int) -> Draws:
        """Compute the populations that are not negligible; the first ``known`` are enumerated, not
        drawn.
        """
        rows = np.flatnonzero(logs > logs.max() + LOG_NEGLIGIBLE)
        w, norm = w[rows], np.ascontiguousarray(fit[:, rows])
        return Draws(w, logs[rows], rows >= known, norm, self._borders(w, norm, self.workers))

    def _borders(self, w: Floats, norm: Floats, workers: Floats) -> Counts:
        """Compute the cells at which the mean of U is least: counted from above, k workers are
        expected there.
        """
        expected = (workers[:, None] / norm).T @ self.like
        result: Counts = reached_from_above(w, expected, self.k - ROUNDING)
        return result

    def averaged(self, weight: Floats) -> AveragedPosterior:
        """Compute the average with these weights (R,) of the populations."""
        cells = self.like * ((weight / self.draws.norm) @ self.draws.w)
        return AveragedPosterior(self, cells / cells.sum(1, keepdims=True))

    def borders_among(self, counted: NDArray[np.bool_]) -> Counts:
        """Compute (R,) ``draws.borders`` as if these (n,) workers were the pool."""
        workers = np.bincount(self.group, counted, self.workers.size).astype(float)
        return self._borders(self.draws.w, self.draws.norm, workers)

    def bound(
        self, draws: Draws, chosen: NDArray[np.bool_], others: NDArray[np.bool_] | None = None
    ) -> Bound:
        """Find U = [sum over the others of (theta - t)+ and over the chosen of (t - theta)+] / k.

        For any t it is at least the regret: every swap passes t on both its sides. Each population
        has its own t, the one that makes the mean of U least. ``others`` (n,) are all that were not
        chosen, unless only some are to count.
        """
        inside = np.bincount(self.group, chosen, self.workers.size).astype(float)
        outside = self.workers - inside
        if others is not None:
            outside = np.bincount(self.group, others, self.workers.size).astype(float)
        first, last = int(draws.borders.min()), int(draws.borders.max())
        loss_outside = self._cumulants(draws, outside, 1.0, first, self.grid.theta.size)
        loss_inside = self._cumulants(draws, inside, -1.0, 0, last + 1)
        mean, variance, third = loss_outside + loss_inside
        sd = np.sqrt(np.maximum(variance, LEAST_SUM_VARIANCE))
        skew = np.clip(third / sd**3, *SKEWS)
        return Bound(draws.logs, draws.random, mean / self.k, sd / self.k, skew)

    def _cumulants(
        self, draws: Draws, workers: Floats, sign: float, begin: int, end: int
    ) -> Floats:
        """Compute (3, R) mean, variance, third cumulant of the sum over so many workers of each
        group.

        Nearly every group lies on one side only: half the rows, half the work. Only the cells from
        ``begin`` to ``end`` lie above the border; or below, if the sign is -1.
        """
        rows = np.flatnonzero(workers)
        far = mass_beyond(draws.w, self.grid.theta, draws.borders, sign, begin, end)
        sums = self.like[rows, begin:end] @ far.reshape(-1, end - begin).T
        result: Floats = sum_cumulants(
            sums.reshape(rows.size, 3, draws.logs.size), draws.norm[rows], workers[rows]
        )
        return result

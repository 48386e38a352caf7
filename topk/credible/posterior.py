"""What the answers say about each worker, and about the regret of a choice, in closed form.

Given the population the workers are independent, so that means, P(accuracy > t) and the moments of
the regret's bound are sums over the grid's cells: matrix products of tallies x cells x populations.
No accuracy is ever drawn, and only the populations carry Monte Carlo error.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from topk.best_sets import top

from .population import Floats, Grid, Population, Prior

Counts = NDArray[np.int64]

LEAST_VARIANCE = 1e-12
LEAST_SUM_VARIANCE = 1e-18
POWERS = (1, 2, 3)


@dataclass(frozen=True)
class Draws:
    """Populations drawn from their posterior.

    w          (R, M) cell probabilities
    weight     (R,) sum 1
    effective  how many independent draws they are worth
    norm       (G, R) each tally's probability under each, as the likelihood is scaled
    """

    w: Floats
    weight: Floats
    effective: float
    norm: Floats


@dataclass(frozen=True)
class Bound:
    """A sum U that is at least the regret, under each population drawn. Arrays are (R,)."""

    draws: Draws
    mean: Floats
    sd: Floats
    skew: Floats

    def risk(self, epsilon: float) -> tuple[float, float]:
        """P(U > epsilon), and the standard error that it has because draws are few."""
        each = tail((epsilon - self.mean) / self.sd, self.skew)
        risk = float(self.draws.weight @ each)
        spread = self.draws.weight @ (each - risk) ** 2
        return risk, float(np.sqrt(spread / self.draws.effective))


def tail(x: Floats, skew: Floats) -> Floats:
    """P(standardised sum > x): Wilson and Hilferty's for a gamma of this skewness."""
    root = np.cbrt(np.maximum(skew * x / 2 + 1, 0))
    result: Floats = ndtr(-(6 / skew * (root - 1) + skew / 6))
    return result


class Posterior:
    """Every worker's posterior; those with equal tallies (a group) share one.

    group  (n,) each worker's group; right, answers, workers are (G,)
    cells  (G, M) the posterior over the grid, averaged over the populations drawn
    mean, variance  (G,)
    """

    def __init__(
        self, right: Floats, answers: Counts, prior: Prior, size: int, rng: np.random.Generator
    ) -> None:
        big = int(answers.max(initial=0)) + 1
        _, first, self.group, self.workers = np.unique(
            answers * big + right, return_index=True, return_inverse=True, return_counts=True
        )
        self.right, self.answers = right[first], answers[first].astype(float)
        self.grid = Grid(int(np.clip(4 * np.sqrt(big), 100, 400)))
        self.population = Population(
            self.grid, prior, self.right, self.answers, self.workers.astype(float)
        )
        self.like = self.population.like[: self.right.size]
        self.draws = self.draw(size, rng)
        self._average()

    def draw(self, size: int, rng: np.random.Generator) -> Draws:
        w, weight = self.population.draw(size, rng)
        return Draws(w, weight, self.population.effective, self.like @ w.T)

    def _average(self) -> None:
        cells = self.like * ((self.draws.weight / self.draws.norm) @ self.draws.w)
        self.cells: Floats = cells / cells.sum(1, keepdims=True)
        self.mean: Floats = self.cells @ self.grid.theta
        square = self.cells @ self.grid.theta**2
        self.variance: Floats = np.maximum(square - self.mean**2, LEAST_VARIANCE)

    def best(self, k: int) -> NDArray[np.bool_]:
        """(n,) the k workers of highest posterior mean."""
        chosen = np.zeros(self.group.size, bool)
        chosen[top(self.mean[self.group], k)] = True
        return chosen

    def border(self, k: int) -> float:
        """The accuracy that k workers are expected to exceed, interpolated within a cell."""
        above = np.r_[np.cumsum((self.workers @ self.cells)[::-1])[::-1], 0.0]
        return float(np.interp(k, above[::-1], self.grid.edges[::-1]))

    def above(self, t: float) -> Floats:
        """(n,) P(accuracy > t)."""
        result: Floats = (self.cells @ self._excess(t, 0))[self.group]
        return result

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """(n,) (n,) ends of the central credible interval, rounded outwards to cells."""
        sums, last = np.cumsum(self.cells, 1), self.grid.theta.size - 1
        low = (sums < (1 - level) / 2).sum(1)
        high = (sums < (1 + level) / 2).sum(1)
        lower = self.grid.edges[:-1][np.minimum(low, last)]
        upper = self.grid.edges[1:][np.minimum(high, last)]
        return lower[self.group], upper[self.group]

    def _excess(self, t: float, power: int) -> Floats:
        """(M,) mean of ((theta - t)+) ** power over each cell."""
        low, high = self.grid.edges[:-1], self.grid.edges[1:]
        return _mean_power(np.maximum(low - t, 0), np.maximum(high - t, 0), power, high - low)

    def _shortfall(self, t: float, power: int) -> Floats:
        """(M,) mean of ((t - theta)+) ** power over each cell."""
        low, high = self.grid.edges[:-1], self.grid.edges[1:]
        return _mean_power(np.maximum(t - high, 0), np.maximum(t - low, 0), power, high - low)

    def bound(self, draws: Draws, t: float, chosen: NDArray[np.bool_], k: int) -> Bound:
        """U = [sum over the others of (theta - t)+ and over the chosen of (t - theta)+] / k.

        For any t it is at least the regret: every swap passes t on both its sides.
        """
        inside = np.bincount(self.group, chosen, self.workers.size).astype(float)
        left_out = self._cumulants(
            draws, self.workers - inside, [self._excess(t, p) for p in POWERS]
        )
        taken_in = self._cumulants(draws, inside, [self._shortfall(t, p) for p in POWERS])
        mean, variance, third = left_out + taken_in
        sd = np.sqrt(np.maximum(variance, LEAST_SUM_VARIANCE))
        return Bound(draws, mean / k, sd / k, np.clip(third / sd**3, 1e-3, 2))

    def _cumulants(self, draws: Draws, workers: Floats, powers: list[Floats]) -> Floats:
        """(3, R) mean, variance, third cumulant of the sum over so many workers of each group.

        Nearly every group lies on one side only: half the rows, half the work.
        """
        rows = np.flatnonzero(workers)
        like, norm, many = self.like[rows], draws.norm[rows], workers[rows]
        one, two, three = (like @ (p * draws.w).T / norm for p in powers)
        third = three - 3 * one * two + 2 * one**3
        return np.stack([many @ one, many @ (two - one**2), many @ third])


def _mean_power(a: Floats, b: Floats, power: int, width: Floats) -> Floats:
    result: Floats = (b ** (power + 1) - a ** (power + 1)) / ((power + 1) * width)
    return result

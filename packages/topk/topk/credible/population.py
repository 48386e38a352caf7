"""A smooth population, of which the crowd is a sample, and its posterior given the tallies.

Accuracies are drawn from a density g over cells of equal width in phi = asin(sqrt(theta)), and

    log g = log of a Beta density + sum over j = 3..8 of c_j cos(2 j phi) + constant:

one smooth bell as the centre, bent as far as the pool asks for (two humps, shoulders, spikes). A
population is a vector x = (logit of the Beta's mean, log of its concentration, c_3, ..., c_8). Its
likelihood is that of the tallies, each worker's accuracy summed out over the cells. Its posterior
is found at its mode by damped Newton steps and drawn from by importance sampling around it.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import lgamma, log, pi

import numpy as np

from .grid import BENDS, FIRST_BEND, LAST_BEND, Floats, Grid
from .mode import TINY, climb_to_mode

WIDE, NU = 1.5, 3.0  # proposals: Student t of NU degrees, WIDE times as wide as the mode is curved


@dataclass(frozen=True)
class Prior:
    """The prior of populations; the values were calibrated together.

    mean, mean_sd    of the logit of the Beta's mean: 0.62, and 0.08 to 0.97 within two sd
    conc, conc_sd    of the log of its concentration a + b
    bend_sd          scale of c_j: bend_sd * j ** -bend_decay
    bend_nu          c as a whole is Student t: small bends for most pools, large ones for odd pools
    """

    mean: float = 0.5
    mean_sd: float = 1.5
    conc: float = log(6.0)
    conc_sd: float = 1.0
    bend_sd: float = 1.0
    bend_decay: float = 0.3
    bend_nu: float = 3.0

    @cached_property
    def centre(self) -> Floats:
        result: Floats = np.r_[self.mean, self.conc, np.zeros(BENDS)]
        return result

    @cached_property
    def precision(self) -> Floats:
        j = np.arange(FIRST_BEND, LAST_BEND + 1)
        sd: Floats = np.r_[self.mean_sd, self.conc_sd, self.bend_sd * j**-self.bend_decay]
        return sd**-2

    @cached_property
    def log_scale(self) -> float:
        """The log of the constant that ``log_density`` leaves out, so that the density's integral
        is 1.
        """
        normal = -log(2 * pi)
        student = lgamma((self.bend_nu + BENDS) / 2) - lgamma(self.bend_nu / 2)
        student -= BENDS / 2 * log(self.bend_nu * pi)
        return normal + student + 0.5 * float(np.log(self.precision).sum())

    def unbent(self) -> "Prior":
        """Compute the prior with the bends fixed at 0: a plain Beta."""
        return replace(self, bend_sd=1e-3)

    def log_density(self, x: Floats) -> Floats:
        """Compute (R,) log densities of populations (R, P), up to a constant."""
        off, nu = (x - self.centre) ** 2 * self.precision, self.bend_nu
        bent: Floats = 0.5 * (nu + BENDS) * np.log1p(off[:, 2:].sum(1) / nu)
        result: Floats = -0.5 * off[:, :2].sum(1) - bent
        return result


class Population:
    """The posterior of a smooth population, given tallies and how many workers have each.

    tallies    right, answers, workers
    like       (G, M) their likelihood
    workers    (G,) number of workers with each
    mode       (P,) the likeliest population
    """

    def __init__(
        self, grid: Grid, prior: Prior, right: Floats, answers: Floats, workers: Floats
    ) -> None:
        self.grid, self.prior, self.tallies = grid, prior, (right, answers, workers)
        self.like, self.workers = grid.likelihood(right, answers), workers
        self.mode, curvature = prior.centre.copy(), np.empty((2 + BENDS, 2 + BENDS))
        prior_known = (prior.centre, prior.precision, prior.bend_nu)
        climb_to_mode(
            self.like, self.workers, grid.basis, grid.flat, prior_known, self.mode, curvature
        )
        self.spread = np.asarray(np.linalg.inv(curvature), np.float64)

    def fit(self, cells: Floats) -> Floats:
        """Compute (G, R) each tally's probability under populations (R, M), as the likelihood is
        scaled.
        """
        result: Floats = self.like @ cells.T
        return result

    def log_likelihood(self, fit: Floats) -> Floats:
        """Compute (R,) log-likelihoods of populations with this fit (G, R)."""
        result: Floats = self.workers @ np.log(np.maximum(fit, TINY))
        return result

    def draw(self, luck: "RandomDraws") -> tuple[Floats, Floats, Floats]:
        """Compute (R, M) populations around the mode, (G, R) their fit and (R,) the logs of their
        weights.

        The mean of the weights is the probability of the tallies, up to their scale.
        """
        wide = WIDE * np.linalg.cholesky(self.spread)
        x = self.mode + luck.z @ wide.T
        cells = self.grid.density(x)
        fit = self.fit(cells)
        logs = self.log_likelihood(fit) + self.prior.log_density(x) + self.prior.log_scale
        return cells, fit, logs - luck.log_density + np.log(np.diag(wide)).sum()


@dataclass(frozen=True)
class RandomDraws:
    """Draws z (R, P) of a Student t of NU degrees, and (R,) the log of its density there."""

    z: Floats
    log_density: Floats

    @classmethod
    def draw(cls, seed: tuple[int, ...], size: int) -> "RandomDraws":
        rng, dim = np.random.default_rng(seed), 2 + BENDS
        z = rng.standard_normal((size, dim)) * np.sqrt(NU / rng.chisquare(NU, size))[:, None]
        scale = lgamma((NU + dim) / 2) - lgamma(NU / 2) - dim / 2 * log(NU * pi)
        return cls(z, scale - (NU + dim) / 2 * np.log1p((z**2).sum(1) / NU))


luck = lru_cache(64)(RandomDraws.draw)

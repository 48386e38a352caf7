"""A crowd as a sample of a population: which populations could the tallies have come from?

Accuracies are drawn from a density g over cells of equal width in phi = asin(sqrt(theta)), and

    log g = log of a Beta density + sum over j = 3..8 of c_j cos(2 j phi) + constant:

one smooth bell as the centre, bent as far as the pool asks for (two humps, shoulders, spikes). A
population is a vector x = (logit of the Beta's mean, log of its concentration, c_3, ..., c_8). Its
likelihood is that of the tallies, each worker's accuracy summed out over the cells. Its posterior
is found at its mode by damped Newton steps and drawn from by importance sampling around it.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topk.problem import ProblemError

Floats = NDArray[np.float64]

FIRST, LAST = 3, 8  # lower bends are the Beta's own business
BENDS = LAST - FIRST + 1
WIDE, NU = 1.2, 6.0  # proposals: Student t of NU degrees, WIDE times as wide as the mode is curved
NEWTON_STEPS, SCALES = 40, (1, 0.5, 0.25, 0.1, 0.03, 0.01)


@dataclass(frozen=True)
class Prior:
    """What is believed of populations before any answer; the values were calibrated together.

    mean, mean_sd    of the logit of the Beta's mean: 0.62, and 0.08 to 0.97 within two sd
    conc, conc_sd    of the log of its concentration a + b
    bend_sd          scale of c_j: bend_sd * j ** -bend_decay
    bend_nu          c as a whole is Student t: small bends for most pools, large ones for odd pools
    tallies          float64 (m, 3), of an earlier pool: right, answers, how many such workers
    """

    mean: float = 0.5
    mean_sd: float = 1.5
    conc: float = log(6.0)
    conc_sd: float = 1.0
    bend_sd: float = 1.0
    bend_decay: float = 0.3
    bend_nu: float = 3.0
    tallies: Floats = field(default_factory=lambda: np.zeros((0, 3)))

    @cached_property
    def centre(self) -> Floats:
        result: Floats = np.r_[self.mean, self.conc, np.zeros(BENDS)]
        return result

    @cached_property
    def precision(self) -> Floats:
        j = np.arange(FIRST, LAST + 1)
        sd: Floats = np.r_[self.mean_sd, self.conc_sd, self.bend_sd * j**-self.bend_decay]
        return sd**-2

    def unbent(self) -> "Prior":
        """The same with the bends nailed down: a plain Beta."""
        return replace(self, bend_sd=1e-3)

    def log_density(self, x: Floats) -> Floats:
        """(R,) for populations (R, P), up to a constant."""
        off, nu = (x - self.centre) ** 2 * self.precision, self.bend_nu
        bent: Floats = 0.5 * (nu + BENDS) * np.log1p(off[:, 2:].sum(1) / nu)
        result: Floats = -0.5 * off[:, :2].sum(1) - bent
        return result

    def pull(self, x: Floats) -> Floats:
        """(P,) the precision of the Gaussian that pulls as hard as the prior does at x."""
        off = ((x - self.centre) ** 2 * self.precision)[2:].sum()
        precision = self.precision.copy()
        precision[2:] *= (self.bend_nu + BENDS) / (self.bend_nu + off)
        return precision


def prior_from(option: dict[str, Any] | None) -> Prior:
    """The prior that the option of ``summary`` stands for; the plain one for None.

    Raises ProblemError when it is not such an option.
    """
    if option is None:
        return Prior()
    try:
        tallies = np.array(option["tallies"], float).reshape(-1, 3)
        worth = float(option["worth"])
    except (KeyError, TypeError, ValueError) as error:
        raise ProblemError(
            "prior needs tallies, a list of (right, answers, workers), and worth, a number."
        ) from error
    right, answers, workers = tallies.T
    if not (0 <= worth < np.inf and np.isfinite(tallies).all() and (tallies >= 0).all()):
        raise ProblemError("prior must be made of numbers that are 0 or more.")
    if (right > answers).any():
        raise ProblemError("prior has a worker with more right answers than answers.")
    share = min(1.0, worth / max(workers.sum(), 1))
    return Prior(tallies=np.c_[right, answers, workers * share])


def summary(right: Floats, answers: NDArray[np.int64], worth: float = 20) -> dict[str, Any]:
    """What a later run over such workers may start from: the value of its option ``prior``.

    right    (n,) right answers of each worker of the earlier run
    answers  (n,) answers
    worth    how many workers the earlier run counts for in all; never more than it had
    """
    seen = answers > 0
    rows, count = np.unique(np.c_[right, answers][seen], axis=0, return_counts=True)
    return {"tallies": np.c_[rows, count].tolist(), "worth": worth}


class Grid:
    """Cells of equal width in phi, where a proportion of N answers spreads by 1 / (2 sqrt N)."""

    def __init__(self, cells: int) -> None:
        phi = (np.arange(cells) + 0.5) * np.pi / 2 / cells
        self.edges: Floats = np.sin(np.linspace(0, np.pi / 2, cells + 1)) ** 2
        self.theta: Floats = np.sin(phi) ** 2
        self.log_p: Floats = 2 * np.log(np.sin(phi))
        self.log_q: Floats = 2 * np.log(np.cos(phi))
        self.log_width: Floats = np.log(np.diff(self.edges))
        self.bends: Floats = np.cos(2 * np.arange(FIRST, LAST + 1)[:, None] * phi)

    def density(self, x: Floats) -> Floats:
        """(R, M) cell probabilities of the populations (R, P)."""
        mean, conc = 1 / (1 + np.exp(-x[:, :1])), np.exp(x[:, 1:2])
        logs = (mean * conc - 1) * self.log_p + ((1 - mean) * conc - 1) * self.log_q
        logs += self.log_width + x[:, 2:] @ self.bends
        logs -= logs.max(1, keepdims=True)
        cells: Floats = np.exp(logs, out=logs)
        cells /= cells.sum(1, keepdims=True)
        return cells

    def slopes(self, x: Floats) -> Floats:
        """(P, M) d log g / d x of one population, up to a constant a row."""
        mean, conc = 1 / (1 + np.exp(-x[0])), np.exp(x[1])
        of_mean = conc * mean * (1 - mean) * (self.log_p - self.log_q)
        of_conc = conc * (mean * self.log_p + (1 - mean) * self.log_q)
        return np.vstack([of_mean, of_conc, self.bends])

    def likelihood(self, right: Floats, answers: Floats) -> Floats:
        """(G, M) of tallies (G,), each row scaled to a largest value of 1."""
        logs = right[:, None] * self.log_p + (answers - right)[:, None] * self.log_q
        logs -= logs.max(1, keepdims=True)
        result: Floats = np.exp(logs, out=logs)
        return result


class Population:
    """The posterior of the population, given tallies and how many workers have each.

    tallies    the pool's own: right, answers, workers
    like       (G, M) the tallies' likelihood, the earlier pool's included
    workers    (G,) how many have each
    mode       (P,) the likeliest population
    effective  set by ``draw``: how many independent draws the last ones are worth
    """

    effective = 0.0

    def __init__(
        self, grid: Grid, prior: Prior, right: Floats, answers: Floats, workers: Floats
    ) -> None:
        old_right, old_answers, old_workers = prior.tallies.T
        self.grid, self.prior, self.tallies = grid, prior, (right, answers, workers)
        self.like = grid.likelihood(np.r_[right, old_right], np.r_[answers, old_answers])
        self.workers: Floats = np.r_[workers, old_workers]
        self.mode = self._climb()
        self.spread = np.asarray(np.linalg.inv(self._newton(self.mode)[1]), np.float64)

    def log_likelihood(self, x: Floats) -> Floats:
        """(R,) for populations (R, P)."""
        fit = self.like @ self.grid.density(x).T
        result: Floats = self.workers @ np.log(np.maximum(fit, 1e-300, out=fit), out=fit)
        return result

    def log_posterior(self, x: Floats) -> Floats:
        """(R,) for populations (R, P), up to a constant."""
        return self.log_likelihood(x) + self.prior.log_density(x)

    def _climb(self) -> Floats:
        x: Floats = self.prior.centre
        value = self.log_posterior(x[None])[0]
        for _ in range(NEWTON_STEPS):
            step = self._newton(x)[0]
            tried: Floats = x + np.outer(SCALES, step)
            values = self.log_posterior(tried)
            better = int(np.argmax(values > value))  # the longest step that climbs
            gain = values[better] - value
            if not gain > 0:
                break
            x, value = tried[better], values[better]
            if gain < 0.01:
                break
        return x

    def _newton(self, x: Floats) -> tuple[Floats, Floats]:
        """A step (P,) and the curvature (P, P): scores' outer products, so always positive."""
        w, slopes = self.grid.density(x[None])[0], self.grid.slopes(x)
        posterior = self.like * w
        posterior /= posterior.sum(1, keepdims=True)
        score = (posterior - w) @ slopes.T
        pull = self.prior.pull(x)
        curvature = (score * self.workers[:, None]).T @ score + np.diag(pull)
        step = np.linalg.solve(curvature, self.workers @ score - pull * (x - self.prior.centre))
        return step * min(1, 2.5 / max(np.abs(step).max(), 1e-300)), curvature

    def draw(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Populations (R, M) from the posterior, R at most ``size``, and their weights (R,).

        Twice as many proposals, thinned by a systematic resample; equal ones are kept once.
        """
        many, dim = 2 * size, self.mode.size
        z = rng.standard_normal((many, dim)) * np.sqrt(NU / rng.chisquare(NU, many))[:, None]
        x = self.mode + WIDE * z @ np.linalg.cholesky(self.spread).T
        logs = self.log_posterior(x) + 0.5 * (NU + dim) * np.log1p((z**2).sum(1) / NU)
        share = np.exp(logs - logs.max())
        share /= share.sum()
        self.effective = min(float(1 / (share**2).sum()), size)
        taken = np.searchsorted(np.cumsum(share), (np.arange(size) + rng.random()) / size)
        taken, times = np.unique(np.minimum(taken, many - 1), return_counts=True)
        return self.grid.density(x[taken]), times / size

"""Accuracies that the workers of a run may have, given its answers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topk.credible.population import Prior
from topk.credible.posterior import Posterior

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

DRAWS = 400  # draws from the posterior of the population


@dataclass(frozen=True)
class FittedBelief:
    """A belief made of a run's own answers.

    The population is fitted like that of ``credible``, and drawn anew for every pool; a worker's
    accuracy is drawn given that and the worker's answers.
    """

    posteriors: tuple[Posterior, ...]
    places: tuple[Counts, ...]

    @classmethod
    def fit(
        cls, pulls: Counts, rewards: Floats, skill: Counts, ks: dict[int, int]
    ) -> "FittedBelief":
        places = tuple(np.flatnonzero(skill == number) for number in ks)
        posteriors = tuple(
            Posterior(np.rint(rewards[at]), pulls[at], Prior(), k, DRAWS)
            for at, k in zip(places, ks.values(), strict=True)
        )
        return cls(posteriors, places)

    def draw(self, rng: np.random.Generator) -> Floats:
        truth = np.empty(sum(at.size for at in self.places))
        for posterior, at in zip(self.posteriors, self.places, strict=True):
            truth[at] = _draw_from_posterior(posterior, rng)
        return truth


def _draw_from_posterior(posterior: Posterior, rng: np.random.Generator) -> Floats:
    draws, grid = posterior.draws, posterior.grid
    population = draws.w[rng.choice(draws.weight.size, p=draws.weight)]
    cells = posterior.like * population
    sums = np.cumsum(cells / cells.sum(1, keepdims=True), axis=1)
    cell = (sums[posterior.group] < rng.random(posterior.group.size)[:, None]).sum(1)
    cell = np.minimum(cell, grid.theta.size - 1)
    within: Floats = rng.uniform(grid.edges[cell], grid.edges[cell + 1])
    return np.clip(within, 1e-6, 1 - 1e-6)

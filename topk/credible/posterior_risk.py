"""What the answers say about a choice of k workers: who is in it, and what it risks."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .population import Floats
from .posterior import Bound, Draws, Posterior

HALVINGS = 20


@dataclass(frozen=True)
class PosteriorRisk:
    """Arrays are (n,).

    k, epsilon, delta  the regret of the k chosen may exceed epsilon at this risk
    border             the accuracy that k workers are expected to exceed
    chosen             the k of highest posterior mean
    bounds             of the regret, one for each set of populations drawn
    """

    posterior: Posterior
    k: int
    epsilon: float
    delta: float
    border: float
    chosen: NDArray[np.bool_]
    bounds: tuple[Bound, ...] = ()

    @classmethod
    def of(cls, posterior: Posterior, k: int, epsilon: float, delta: float) -> "PosteriorRisk":
        border, chosen = posterior.border(k), posterior.best(k)
        bare = cls(posterior, k, epsilon, delta, border, chosen)
        return bare.with_more(posterior.draws)

    def with_more(self, draws: Draws) -> "PosteriorRisk":
        """The same, knowing more populations."""
        bound = self.posterior.bound(draws, self.border, self.chosen, self.k)
        return replace(self, bounds=(*self.bounds, bound))

    @cached_property
    def above(self) -> Floats:
        """P(accuracy above the border between the best k and the rest)."""
        return self.posterior.above(self.border)

    def risk(self, epsilon: float) -> tuple[float, float]:
        """P(regret > epsilon) or a little more, and its Monte Carlo standard error."""
        risks, errors = np.array([bound.risk(epsilon) for bound in self.bounds]).T
        return float(risks.mean()), float(np.linalg.norm(errors)) / errors.size

    def _within(self, epsilon: float) -> bool:
        """Whether the risk is at most delta with one standard error to spare."""
        return sum(self.risk(epsilon)) <= self.delta

    @cached_property
    def holds(self) -> bool:
        """Whether the wanted epsilon holds."""
        return self._within(self.epsilon)

    @property
    def unsure(self) -> bool:
        """Whether only the Monte Carlo error stands in the way."""
        return not self.holds and self.risk(self.epsilon)[0] <= self.delta

    @cached_property
    def reached(self) -> float:
        """The least epsilon that holds; at most the wanted one exactly when that one does."""
        low, high = (0.0, self.epsilon) if self.holds else (self.epsilon, 1.0)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._within(middle) else (middle, high)
        return high

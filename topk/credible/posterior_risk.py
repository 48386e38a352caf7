"""What the answers say about a choice of k workers: who is in it, and what it risks."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from topk.best_sets import top_arms

from .grid import Floats
from .hidden_gaps import CAUTIOUS_SHARE
from .posterior import CAUTION, AveragedPosterior, Bound, Posterior

HALVINGS, SECANTS = 12, 5
HAZARD = 0.4  # about so much more than z is the hazard rate of a normal law at z
LEAST_RISK = 1e-12
LEAST_TILT = 1e-6


@dataclass(frozen=True)
class PosteriorRisk:
    """Arrays are (n,).

    epsilon, delta  the regret of the k chosen may exceed epsilon at this risk
    chosen          whether each worker is
    bound           of the regret, under each population considered
    """

    posterior: Posterior
    epsilon: float
    delta: float
    chosen: NDArray[np.bool_]
    bound: Bound

    @classmethod
    def of(
        cls, posterior: Posterior, met: NDArray[np.bool_], epsilon: float, delta: float
    ) -> "PosteriorRisk":
        """Of the k workers of highest posterior mean, those who were met before all others."""
        mean = posterior.average.mean[posterior.group]
        chosen = np.zeros(mean.size, bool)
        chosen[top_arms(mean + met, posterior.k)] = True
        bound = posterior.bound(posterior.draws, chosen)
        return cls(posterior, epsilon, delta, chosen, bound)

    def with_more(self) -> "PosteriorRisk":
        """The same, knowing more populations."""
        draws = self.posterior.more(self.bound.rounds)
        bound = self.bound.with_more(self.posterior.bound(draws, self.chosen))
        return replace(self, bound=bound)

    def fearing_gaps(self) -> "PosteriorRisk":
        """Of the same choice, as who is cautious of hidden gaps would judge it."""
        posterior = self.posterior.fearing_gaps()
        bound = posterior.bound(posterior.draws, self.chosen)
        return replace(self, posterior=posterior, bound=bound, delta=self.delta * CAUTIOUS_SHARE)

    @cached_property
    def above(self) -> Floats:
        """P(accuracy above the border between the best k and the rest)."""
        return self.posterior.average.above(self.posterior.average.border)

    @cached_property
    def feared(self) -> AveragedPosterior:
        """Every worker's posterior, populations counting the more the more they put at risk."""
        draws = self.posterior.draws
        each = self.bound.each(self.reached)[: draws.logs.size]
        tilted = draws.weight * (each**2 + LEAST_TILT)
        return self.posterior.averaged(tilted / tilted.sum())

    def rests_with_the_unmet(self, met: NDArray[np.bool_]) -> bool:
        """Whether all that stands in the way is what is not known of those who were not met.

        So it is when epsilon holds among the others by themselves, while these alone, with nothing
        left to know of the others, would still keep it from holding.
        """
        if met.all() or (self.chosen & ~met).any():
            return False
        posterior, nobody = self.posterior, np.zeros_like(met)
        unmet = posterior.bound(posterior.draws, nobody, ~met)
        if sum(unmet.risk(self.epsilon)) <= self.delta:
            return False
        draws = replace(posterior.draws, borders=posterior.borders_among(met))
        among = posterior.bound(draws, self.chosen, met & ~self.chosen)
        return sum(among.risk(self.epsilon)) <= self.delta

    def risk(self, epsilon: float) -> tuple[float, float]:
        """P(regret > epsilon) or a little more, and its Monte Carlo standard error."""
        return self.bound.risk(epsilon)

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
        """The least epsilon that holds; at most the wanted one exactly when that one does.

        Found by halvings, most of which need no look: they lie beyond what was approached.
        """
        low, high = (self.epsilon / 1000, self.epsilon) if self.holds else (self.epsilon, 1.0)
        fails, holds = self._approached(low, high)
        for _ in range(HALVINGS):
            middle = sqrt(low * high)
            within = middle >= holds or (middle > fails and self._within(middle))
            low, high = (low, middle) if within else (middle, high)
        return high

    def _approached(self, fails: float, holds: float) -> tuple[float, float]:
        """An epsilon that fails and one that holds, near each other: by secants, as risks fall
        evenly in logarithm, from where a normal law would put it. Each goes a little too far."""
        near = (holds / fails) ** (0.5**HALVINGS)
        z, (mean, sd) = -float(ndtri(self.delta / CAUTION)), self.bound.moments
        at, fall = mean + z * sd, (z + HAZARD) / sd
        before, over_before = at, 0.0
        for _ in range(SECANTS):
            if not (fails < at < holds and holds > fails * near):
                break
            over = log(max(sum(self.risk(at)), LEAST_RISK) / self.delta)
            fails, holds = (fails, at) if over <= 0 else (at, holds)
            if at != before:
                fall = (over_before - over) / (at - before)
            before, over_before = at, over
            at = (at + over / max(fall, HAZARD)) * (near**0.5 if over > 0 else near**-0.5)
        return fails, holds

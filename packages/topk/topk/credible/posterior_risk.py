"""The choice of k workers by their posteriors, and the risk of that choice."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import log, sqrt

import numpy as np
import scipy
from numpy.typing import NDArray

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
    """The risk of a choice. Arrays are (n,).

    epsilon, delta  the regret of the k chosen may exceed epsilon at this risk
    chosen          True for the workers chosen
    bound           of the regret, under each population considered
    """

    posterior: Posterior
    epsilon: float
    delta: float
    chosen: NDArray[np.bool_]
    bound: Bound

    @classmethod
    def build(
        cls, posterior: Posterior, met: NDArray[np.bool_], epsilon: float, delta: float
    ) -> "PosteriorRisk":
        """Compute the risk of the k workers of highest posterior mean, those with enough answers
        first.
        """
        mean = posterior.average.mean[posterior.group]
        chosen = np.zeros(mean.size, bool)
        chosen[top_arms(mean + met, posterior.k)] = True
        bound = posterior.bound(posterior.draws, chosen)
        return cls(posterior, epsilon, delta, chosen, bound)

    def refined(self) -> "PosteriorRisk":
        """Compute the risk with more populations drawn."""
        draws = self.posterior.more(self.bound.rounds)
        bound = self.bound.merged(self.posterior.bound(draws, self.chosen))
        return replace(self, bound=bound)

    def fearing_gaps(self) -> "PosteriorRisk":
        """Compute the risk of the same choice with caution for hidden gaps."""
        posterior = self.posterior.fearing_gaps()
        bound = posterior.bound(posterior.draws, self.chosen)
        return replace(self, posterior=posterior, bound=bound, delta=self.delta * CAUTIOUS_SHARE)

    @cached_property
    def above(self) -> Floats:
        """P(accuracy above the border between the best k and the rest)."""
        return self.posterior.average.above(self.posterior.average.border)

    @cached_property
    def feared(self) -> AveragedPosterior:
        """The posteriors of all workers, with more weight on populations that put more at risk."""
        draws = self.posterior.draws
        tails = self.bound.tails(self.reached)[: draws.logs.size]
        tilted = draws.weight * (tails**2 + LEAST_TILT)
        return self.posterior.averaged(tilted / tilted.sum())

    def rests_with_the_unmet(self, met: NDArray[np.bool_]) -> bool:
        """Tell if only the uncertainty about workers without enough answers prevents the
        stop.

        That is the case if epsilon holds among the other workers by themselves, while the unmet
        ones alone would still prevent it, were nothing left to know of the others.
        """
        if met.all() or (self.chosen & ~met).any():
            return False
        posterior, no_worker = self.posterior, np.zeros_like(met)
        unmet = posterior.bound(posterior.draws, no_worker, ~met)
        if sum(unmet.risk(self.epsilon)) <= self.delta:
            return False
        return self.holds_among(met, self.epsilon)

    def holds_whatever(self, met: NDArray[np.bool_]) -> bool:
        """Tell if epsilon holds even if the workers without enough answers are always right.

        The chosen are taken to be as good as their posterior means. Where the wanted epsilon does
        not hold, it is the one that is reached.
        """
        if (self.chosen & ~met).any():
            return False
        mean = self.posterior.average.mean[self.posterior.group]
        replaced = np.sort(mean[self.chosen])[: int((~met).sum())]
        rest = max(self.epsilon, self.reached) - float((1 - replaced).sum()) / self.posterior.k
        return rest > 0 and self.holds_among(met, rest)

    def holds_among(self, met: NDArray[np.bool_], epsilon: float) -> bool:
        """Tell if epsilon holds of the same choice among these workers."""
        draws = replace(self.posterior.draws, borders=self.posterior.borders_among(met))
        bound = self.posterior.bound(draws, self.chosen, met & ~self.chosen)
        return sum(bound.risk(epsilon)) <= self.delta

    def risk(self, epsilon: float) -> tuple[float, float]:
        """Compute P(regret > epsilon) or a little more, and its Monte Carlo standard error."""
        return self.bound.risk(epsilon)

    def _is_within_delta(self, epsilon: float) -> bool:
        """Tell if the risk is at most delta with one standard error to spare."""
        return sum(self.risk(epsilon)) <= self.delta

    @cached_property
    def is_met(self) -> bool:
        """True if the wanted epsilon holds."""
        return self._is_within_delta(self.epsilon)

    @property
    def unsure(self) -> bool:
        """True if only the Monte Carlo error prevents the stop."""
        return not self.is_met and self.risk(self.epsilon)[0] <= self.delta

    @cached_property
    def reached(self) -> float:
        """The least epsilon that holds; at most the wanted one exactly if that one does.

        Found by halvings, most of which need no look: they lie beyond the approached values.
        """
        low, high = (self.epsilon / 1000, self.epsilon) if self.is_met else (self.epsilon, 1.0)
        fails, holds = self._approached(low, high)
        for _ in range(HALVINGS):
            middle = sqrt(low * high)
            within = middle >= holds or (middle > fails and self._is_within_delta(middle))
            low, high = (low, middle) if within else (middle, high)
        return high

    def _approached(self, fails: float, holds: float) -> tuple[float, float]:
        """Compute an epsilon that fails and one that holds, near each other.

        By secants, because risks fall evenly in logarithm, from the value under a normal law. Each
        step goes a little too far.
        """
        near = (holds / fails) ** (0.5**HALVINGS)
        z, (mean, sd) = -float(scipy.special.ndtri(self.delta / CAUTION)), self.bound.moments
        point, fall = mean + z * sd, (z + HAZARD) / sd
        before, excess_before = point, 0.0
        for _ in range(SECANTS):
            if not (fails < point < holds and holds > fails * near):
                break
            excess = log(max(sum(self.risk(point)), LEAST_RISK) / self.delta)
            fails, holds = (fails, point) if excess <= 0 else (point, holds)
            if point != before:
                fall = (excess_before - excess) / (point - before)
            before, excess_before = point, excess
            point = (point + excess / max(fall, HAZARD)) * (near**0.5 if excess > 0 else near**-0.5)
        return fails, holds

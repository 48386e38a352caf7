"""Goodness of fit: a test of the fitted population against the observed answers.

The statistic is twice the log of how much likelier the answers are under the bent population than
under a plain Beta, against a chi-square of as many degrees of freedom as there are bends. The
likelihood does not depend on how workers were chosen for testing, so adaptive answer counts do no
harm. Replicating tallies at the observed counts would be wrong here: the counts depend on the
answers.
"""

from dataclasses import dataclass
from math import exp

from topk.guarantee import Doubt

from .grid import BENDS
from .population import Population

DOUBT = 0.05  # smaller p-values cause a warning
FEW = 5  # effective draws: bells fall below it in 0 to 6 % of runs at the stop

ODD = Doubt(
    "population",
    "These workers do not look like one population: there may be groups of very different "
    "accuracy. The guarantee is an average over pools like the one fitted; that of the algorithm "
    "“certified” holds for every pool.",
)
HARD_TO_FIT = Doubt(
    "rough",
    "The population was hard to fit to these answers, so the guarantee is rough; "
    "the algorithm “certified” needs no population.",
)


@dataclass(frozen=True)
class GoodnessOfFit:
    """The result of the test.

    statistic  0 or more; large if one bell of workers does not explain the answers
    p_value    probability of a statistic so large if one bell were the truth
    doubt      for users; None if there is none
    """

    statistic: float
    p_value: float
    doubt: Doubt | None

    @classmethod
    def build(cls, bent: Population, effective: float) -> "GoodnessOfFit":
        """Test a fitted population whose draws are worth ``effective`` independent ones."""
        plain = Population(bent.grid, bent.prior.unbent(), *bent.tallies)
        statistic = max(2 * (_best_likelihood(bent) - _best_likelihood(plain)), 0.0)
        p_value = chi_square_tail(statistic)
        hard = HARD_TO_FIT if effective < FEW else None
        return cls(statistic, p_value, ODD if p_value < DOUBT else hard)


def _best_likelihood(population: Population) -> float:
    """Compute the log-likelihood of the likeliest population."""
    cells = population.grid.density(population.mode[None])
    return float(population.log_likelihood(population.fit(cells))[0])


def chi_square_tail(x: float) -> float:
    """Compute P(chi-square of BENDS degrees > x): a Poisson sum, because BENDS is even."""
    term = total = 1.0
    for j in range(1, BENDS // 2):
        term *= x / 2 / j
        total += term
    return exp(-x / 2) * total

"""Does the fitted population look like what was observed?

Twice the log of how much likelier the answers are under the bent population than under a plain
Beta, against a chi-square of as many degrees of freedom as there are bends. The likelihood does not
care how workers were chosen for testing, so adaptive answer counts do no harm. Replicating tallies
at the observed counts would be wrong here: the counts depend on the answers.
"""

from dataclasses import dataclass
from math import exp

from .grid import BENDS
from .population import Population

DOUBT = 0.05  # p-values below it are warned of
FEW = 5  # effective draws: bells fall below it in 0 to 6 % of runs at the stop

ODD = (
    "These workers do not look like one population: there may be groups of very different "
    "accuracy. What is promised is an average over pools like the one fitted; the algorithm "
    "“certified” promises for every pool."
)
HARD_TO_FIT = (
    "The population was hard to fit to these answers, so that what is promised is rough; "
    "the algorithm “certified” needs no population."
)


@dataclass(frozen=True)
class GoodnessOfFit:
    """statistic  0 or more; large when one bell of workers does not explain the answers
    p_value    how often it would be so large if one bell were the truth
    sentence   for a person; empty when there is nothing to warn of
    """

    statistic: float
    p_value: float
    sentence: str

    @classmethod
    def of(cls, bent: Population, effective: float) -> "GoodnessOfFit":
        """The check of a fitted population, whose draws are worth so many independent ones."""
        plain = Population(bent.grid, bent.prior.unbent(), *bent.tallies)
        statistic = max(2 * (_best_likelihood(bent) - _best_likelihood(plain)), 0.0)
        p_value = chi_square_tail(statistic)
        hard = HARD_TO_FIT if effective < FEW else ""
        return cls(statistic, p_value, ODD if p_value < DOUBT else hard)


def _best_likelihood(population: Population) -> float:
    """The log-likelihood of the likeliest population."""
    cells = population.grid.density(population.mode[None])
    return float(population.log_likelihood(population.fit(cells))[0])


def chi_square_tail(x: float) -> float:
    """P(chi-square of BENDS degrees > x): a Poisson sum, because BENDS is even."""
    term = total = 1.0
    for j in range(1, BENDS // 2):
        term *= x / 2 / j
        total += term
    return exp(-x / 2) * total

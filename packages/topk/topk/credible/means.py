"""Posterior means of a pool's workers."""

from .grid import Floats
from .population import Prior
from .posterior import Counts, Posterior

DRAWS = 400  # populations; as many as the algorithm itself first considers


def posterior_means(right: Floats, answers: Counts, k: int) -> Floats:
    """Compute (n,) expected accuracies under the population fitted to these (n,) tallies.

    k  number of workers sought, 1 to n - 1: one of the populations considered has two levels

    They are the same for equal tallies; of equally many answers, more right ones give more.
    """
    posterior = Posterior(right, answers, Prior(), k, DRAWS)
    means: Floats = posterior.average.mean[posterior.group]
    return means

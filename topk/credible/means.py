"""What the answers of a pool make of each of its workers: the posterior mean alone."""

from .grid import Floats
from .population import Prior
from .posterior import Counts, Posterior

DRAWS = 400  # populations; as many as the algorithm itself first considers


def posterior_means(right: Floats, answers: Counts, k: int) -> Floats:
    """(n,) expected accuracies under the population fitted to these (n,) tallies.

    k  how many are sought, 1 to n - 1: one of the populations considered has two levels

    The same for equal tallies, whoever has them; of equally many answers, more right ones give
    more.
    """
    posterior = Posterior(right, answers, Prior(), k, DRAWS)
    means: Floats = posterior.average.mean[posterior.group]
    return means

"""A lower bound on the mean accuracy of selected workers, for any rule and at any time.

For fixed workers T with accuracies θ, the likelihood of their answers under a mixture of
populations, over that under θ, is a martingale however workers are chosen to be asked. By Ville's
inequality it exceeds 1/η at any time with a probability of at most η. Every set T has a share η of
delta, so that T may be chosen after the answers. The bound is the least mean of all θ that are not
excluded, found from below by the Lagrange dual: every multiplier gives a valid bound.
Of scores in [0, 1], the likelihood ratio is convex, so that it is at most as large on average.
"""

import numpy as np
import scipy  # it loads special at first use
from numpy.typing import ArrayLike, NDArray

from .problem import ProblemError

Floats = NDArray[np.float64]

MEANS = 1 / (1 + np.exp(-np.linspace(-2.5, 4.5, 15)))  # of the Beta populations
SIZES = np.array([1.0, 4.0, 16.0, 64.0, 256.0])  # their sums of parameters
MULTIPLIERS = np.geomspace(1e-4, 1e3, 141)


def bound_mean(
    rewards: ArrayLike,
    pulls: ArrayLike,
    selected: ArrayLike,
    k: int,
    delta: float,
    *,
    questions: ArrayLike | None = None,
    joined: bool = False,
) -> float:
    """Bound the mean accuracy that the selected workers have with probability at least 1 - delta.

    rewards    (n,) sums of each worker's rewards, of all workers that ever took part
    pulls      (n,) numbers of their answers
    selected   (m,) numbers of the selected workers, at least one; m differs from k in odd cases
    questions  (n,) sizes of the question sets, if accuracy on the set is meant; rewards are whole
               numbers then
    joined     True if workers joined after the first answer

    Raises ProblemError for rewards that are not between 0 and the pulls.
    """
    sums, counts = np.asarray(rewards, np.float64), np.asarray(pulls, np.float64)
    chosen = np.unique(np.asarray(selected, np.int64))
    if not ((sums >= 0) & (sums <= counts)).all():
        raise ProblemError("rewards must lie between 0 and the number of pulls.")
    if not chosen.size:
        raise ProblemError("There must be a selected worker.")
    hits, wrong = sums[chosen], (counts - sums)[chosen]
    evidence = _log_mixture(hits, wrong) - _log_cost(sums.size, chosen.size, k, joined, delta)
    if questions is None:
        least = _least_sums(hits, wrong)
    else:
        sizes = np.asarray(questions, np.float64)[chosen]
        least = np.sum([*map(_least_sums_on_set, hits, wrong, sizes)], axis=0)
    return float(np.clip(np.max(least + MULTIPLIERS * evidence) / chosen.size, 0, 1))


def _log_mixture(right: Floats, wrong: Floats) -> float:
    """Average the likelihood of all answers over the populations, and take its logarithm."""
    a = (MEANS[:, None] * SIZES).ravel()[:, None]
    b = ((1 - MEANS)[:, None] * SIZES).ravel()[:, None]
    log_beta = scipy.special.betaln
    logs = (log_beta(a + right, b + wrong) - log_beta(a, b)).sum(1)
    return float(scipy.special.logsumexp(logs) - np.log(logs.size))


def _log_cost(n: int, size: int, k: int, joined: bool, delta: float) -> float:
    """Compute the logarithm of 1/η: half of delta is for sets of k workers."""
    log_gamma = scipy.special.gammaln
    sets = log_gamma(n + 1) - log_gamma(size + 1) - log_gamma(n - size + 1)
    if joined:  # by the number of the last worker of the set, which is not bounded beforehand
        sets += np.log(size * (n + 1))
    return float(sets + np.log(2 / delta) + (0 if size == k else np.log(n)))


def _least_sums(right: Floats, wrong: Floats) -> Floats:
    """Minimise (multipliers,) Σ θ − multiplier · log-likelihood; θ solves a quadratic."""
    steps = MULTIPLIERS[:, None]
    half = (1 + steps * (right + wrong)) / 2
    theta = steps * right / (half + np.sqrt(half**2 - steps * right))
    logs = _weigh(right, np.log(np.maximum(theta, 1e-300)))
    logs += _weigh(wrong, np.log1p(-np.minimum(theta, 1 - 1e-16)))
    return np.asarray((theta - steps * logs).sum(1))


def _least_sums_on_set(right: float, wrong: float, size: float) -> Floats:
    """Minimise the same of one worker, whose answers are drawn from a set without repetition."""
    log_gamma = scipy.special.gammaln
    total = np.arange(right, size - wrong + 1)  # right answers among all questions of the set
    logs = log_gamma(total + 1) - log_gamma(total - right + 1)
    logs += log_gamma(size - total + 1) - log_gamma(size - total - wrong + 1)
    logs -= log_gamma(size + 1) - log_gamma(size - right - wrong + 1)
    return np.asarray((total / size - MULTIPLIERS[:, None] * logs).min(1))


def _weigh(counts: Floats, logs: Floats) -> Floats:
    return np.where(counts > 0, counts * logs, 0.0)

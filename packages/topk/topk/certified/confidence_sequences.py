"""Confidence sequences: intervals for a worker's accuracy that hold at all times at once.

docs/certified.md, section 5. A martingale compares the answers seen with a mixture over all
accuracies. An accuracy is excluded once the mixture explains them e^x times better, which happens
to the true one with probability at most e^-x, ever (Ville's inequality).
"""

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import scipy
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Levels = tuple[float, float]  # of what is excluded below, and above

HALVINGS = 40
TABLED = 512  # below so many answers all intervals of a level are found at once, and kept
TABLES_KEPT = 16


def confidence_intervals(
    pulls: Counts, rewards: Floats | Counts, x: float, questions: int, above: float | None = None
) -> tuple[Floats, Floats]:
    """Return (n,) lower and upper, in [0, 1], each excluded at level x; upper at ``above``, if
    given.

    rewards    (n,) 0 to pulls; a sum of scores is rounded down for lower, and up for upper
    questions  0, or the size of the set that accuracy means; pulls are then at most that
    """
    levels = (x, x if above is None else above)
    less, more = (bound(rewards).astype(np.int64) for bound in (np.floor, np.ceil))
    lower, upper = _whole_intervals(pulls, less, levels, questions)
    if (less < more).any():
        upper = _whole_intervals(pulls, more, levels, questions)[1]
    return lower, upper


def _whole_intervals(
    pulls: Counts, right: Counts, levels: Levels, questions: int
) -> tuple[Floats, Floats]:
    most = int(pulls.max())
    if most < TABLED:
        lower, upper = _interval_table(max(64, 1 << most.bit_length()), levels, questions)
        place = pulls * (pulls + 1) // 2 + right
        return lower[place], upper[place]
    width = most + 1
    pairs, place = np.unique(pulls * width + right, return_inverse=True)
    pulls, right = pairs // width, pairs % width
    lower, upper = find_intervals(pulls, right, levels, questions)
    return lower[place], upper[place]


@lru_cache(TABLES_KEPT)
def _interval_table(answers: int, levels: Levels, questions: int) -> tuple[Floats, Floats]:
    """Return the intervals of all states with fewer ``answers``: (m, S) is at m (m + 1) / 2 + S."""
    pulls, right = np.tril_indices(min(answers, questions + 1) if questions else answers)
    return find_intervals(pulls, right, levels, questions)


def find_intervals(
    pulls: Counts, right: Counts, levels: Levels, questions: int
) -> tuple[Floats, Floats]:
    """Return intervals by the mixture Beta(1/2, 1/2) (5.1), or on a question set."""
    if questions:
        return _question_set_intervals(pulls, right, levels, questions)
    return bound_means(right, pulls - right, *levels, (0.5, 0.5))


def _question_set_intervals(
    pulls: Counts, right: Counts, levels: Levels, questions: int
) -> tuple[Floats, Floats]:
    """Return intervals by the uniform mixture of 0 to ``questions`` right ones on the set (6.2)."""
    wrong = pulls - right
    whole = _log_gamma(1.0, questions + 1)
    mixture = whole[right] + whole[wrong] - whole[pulls + 1]
    drawn = whole[questions] - whole[questions - pulls]

    def excluded(x: float, total: Floats) -> NDArray[np.bool_]:
        r = total.astype(np.int64)
        seen = whole[r] - whole[r - right] + whole[questions - r] - whole[questions - r - wrong]
        return np.asarray(mixture - (seen - drawn) >= x)

    # Between the totals that are possible at all; the middle one fits the answers best.
    least, most = right, questions - wrong
    likely = np.round(right / np.maximum(pulls, 1) * questions).astype(np.int64)
    likely = np.clip(likely, least, most)
    steps = questions.bit_length() + 1
    lower = _nearest_kept(partial(excluded, levels[0]), least, likely, steps)
    upper = _nearest_kept(partial(excluded, levels[1]), most, likely, steps)
    return lower / questions, upper / questions


def bound_means(
    right: Floats | Counts, wrong: Floats | Counts, low: float, high: float, prior: Levels
) -> tuple[Floats, Floats]:
    """Return (n,) lower and upper bounds of accuracies, excluded at these levels.

    prior  Beta distribution of the mixture
    """
    log_beta, total = scipy.special.betaln, right + wrong
    mixture = log_beta(prior[0] + right, prior[1] + wrong) - log_beta(*prior)
    mean = np.where(total > 0, right / np.maximum(total, 1e-300), 0.5)
    bounds = []
    for level, out in ((low, np.zeros(mean.size)), (high, np.ones(mean.size))):
        kept = mean.copy()
        for _ in range(HALVINGS):
            middle = 0.5 * (out + kept)
            fit = scipy.special.xlogy(right, middle) + scipy.special.xlog1py(wrong, -middle)
            excluded = mixture - fit >= level
            out, kept = np.where(excluded, middle, out), np.where(excluded, kept, middle)
        bounds.append(out)
    return bounds[0], bounds[1]


def _nearest_kept(
    excluded: Callable[[Floats], NDArray[np.bool_]], end: Counts, kept: Counts, steps: int
) -> Counts:
    """Return the total farthest from ``kept`` towards ``end`` that is not excluded."""
    side = np.sign(end - kept)
    near, far = np.zeros(kept.size, np.int64), np.abs(end - kept) + 1
    for _ in range(steps):
        middle = (near + far) // 2
        gone = (middle > np.abs(end - kept)) | excluded(kept + side * np.minimum(middle, far - 1))
        near, far = np.where(gone, near, middle), np.where(gone, middle, far)
    return np.asarray(kept + side * near)


def _log_gamma(shift: float, most: int) -> Floats:
    """Return ln Gamma(i + shift), i = 0..most."""
    steps = np.log(np.arange(most) + shift)
    return math.lgamma(shift) + np.concatenate([[0.0], np.cumsum(steps)])

"""Evidence that workers reach a pass mark, for any rule and at any time: docs/pass-mark.md.

For one worker, the likelihood of the answers under accuracies above the mark, over that at the
mark, is a supermartingale if the true accuracy is below: evidence against it. A worker is shown
to reach the mark if no set of workers with this one could all be below it: the mean evidence of
the set would have to exceed 1/delta, which has a probability of at most delta (Ville; closed
testing by averages of e-values: Vovk and Wang, Annals of Statistics 2021).
"""

from functools import lru_cache
from math import log

import numpy as np
import scipy  # it loads special at first use
from numpy.typing import ArrayLike, NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

POINTS = (np.arange(32) + 0.5) / 32  # of the mixture, between the mark and 1
REACHES, NOT_SHOWN, BELOW = 1, 0, -1
JOINERS = 0.2  # part of delta for workers that join after the first answer
CAP = 50.0  # of logarithms, which must not overflow


def judge_marks(
    rewards: ArrayLike,
    pulls: ArrayLike,
    mark: float,
    delta: float,
    *,
    questions: ArrayLike | None = None,
    joined: int = 0,
) -> NDArray[np.int8]:
    """Judge (n,) REACHES, BELOW or NOT_SHOWN; each of the first two is never false, except with
    probability delta.

    rewards    (n,) sums of each worker's rewards, of all workers that ever took part
    pulls      (n,) numbers of their answers
    questions  (n,) sizes of the question sets, if accuracy on the set is meant
    joined     how many of them joined after the first answer: the last ones, in this order
    """
    reaches = show_at_least(rewards, pulls, mark, delta, questions=questions, joined=joined)
    below = show_below(rewards, pulls, mark, delta, questions=questions, joined=joined)
    return (reaches * 1 - (below & ~reaches) * 1).astype(np.int8)


def show_at_least(
    rewards: ArrayLike,
    pulls: ArrayLike,
    mark: float,
    delta: float,
    *,
    questions: ArrayLike | None = None,
    joined: int = 0,
) -> Flags:
    """Find (n,) flags of the workers shown to have at least this accuracy, as ``judge_marks``."""
    sums, counts = np.asarray(rewards, np.float64), np.asarray(pulls, np.float64)
    return _close_test(evidence_at_least(sums, counts - sums, mark, questions), delta, joined)


def show_below(
    rewards: ArrayLike,
    pulls: ArrayLike,
    mark: float,
    delta: float,
    *,
    questions: ArrayLike | None = None,
    joined: int = 0,
) -> Flags:
    """Find (n,) flags of the workers shown to be below this accuracy; none for a mark of 1."""
    sums, counts = np.asarray(rewards, np.float64), np.asarray(pulls, np.float64)
    if mark >= 1:
        return np.zeros(sums.size, bool)
    return _close_test(evidence_below(sums, counts - sums, mark, questions), delta, joined)


def expected_answers(accuracy: float, mark: float, n: int, delta: float) -> int | None:
    """Foresee how many answers show that one of n workers, of this accuracy, reaches the mark.

    None if the accuracy is not above the mark.
    """
    if accuracy <= mark:
        return None
    counts = np.arange(1, 20_001, dtype=np.float64)
    enough = _log_evidence(accuracy * counts, (1 - accuracy) * counts, mark) >= log(
        n / delta / (1 - JOINERS)
    )
    return int(counts[enough.argmax()]) if enough.any() else None


def evidence_at_least(
    right: Floats, wrong: Floats, mark: float, questions: ArrayLike | None
) -> Floats:
    """Compute (n,) logarithms of the evidence against an accuracy below the mark."""
    if questions is None:
        return _log_evidence(right, wrong, mark)
    sizes = np.broadcast_to(np.asarray(questions, np.int64), right.shape)
    return _log_evidence_on_set(right, wrong, sizes, np.ceil(mark * sizes - 1e-9) - 1)


def evidence_below(
    right: Floats, wrong: Floats, mark: float, questions: ArrayLike | None
) -> Floats:
    """Compute the same against an accuracy that reaches the mark."""
    if questions is None:
        return _log_evidence(wrong, right, 1 - mark)
    sizes = np.broadcast_to(np.asarray(questions, np.int64), right.shape)
    return _log_evidence_on_set(wrong, right, sizes, sizes - np.ceil(mark * sizes - 1e-9))


def _log_evidence(right: Floats, wrong: Floats, mark: float) -> Floats:
    """Compute (n,) logarithms of the evidence against an accuracy of at most the mark."""
    above = mark + (1 - mark) * POINTS
    gain, loss = np.log(above / mark), np.log((1 - above) / (1 - mark))
    logs = right[:, None] * gain + wrong[:, None] * loss
    most = logs.max(axis=1)
    evidence: Floats = most + np.log(np.exp(logs - most[:, None]).mean(axis=1))
    return evidence


def _log_evidence_on_set(right: Floats, wrong: Floats, sizes: Counts, most: Floats) -> Floats:
    """Compute the same against at most ``most`` right answers among all questions of the set.

    Questions are drawn without repetition; the mixture is uniform over all greater numbers.
    """
    columns = np.stack([right, wrong, sizes, most], axis=1)
    unique, place = np.unique(columns, axis=0, return_inverse=True)
    return np.array([_evidence_of_one(*row) for row in unique.tolist()])[place.ravel()]


@lru_cache(maxsize=1 << 14)  # between answers most workers keep theirs
def _evidence_of_one(right: float, wrong: float, size: float, most: float) -> float:
    log_gamma = scipy.special.gammaln
    totals = np.arange(right, size - wrong + 1)  # right answers among all questions, if possible
    logs = log_gamma(totals + 1) - log_gamma(totals - right + 1)
    logs += log_gamma(size - totals + 1) - log_gamma(size - totals - wrong + 1)
    above, below = logs[totals > most], logs[totals <= most]
    if not above.size:
        return -np.inf
    if not below.size:
        return float(np.inf)
    return float(scipy.special.logsumexp(above) - log(size - most) - below.max())


def _close_test(evidence: Floats, delta: float, joined: int) -> Flags:
    """Find (n,) flags of the hypotheses that are rejected, none falsely but for delta.

    The workers of the start share delta by closed testing, except a part for all that may ever
    join: the first, second, … of these has a share of it, and all shares together are 1.
    """
    start = evidence.size - joined
    edges = 1 / (1 + np.log(np.arange(1, joined + 2)))
    needed = -np.log(JOINERS * delta * (edges[:-1] - edges[1:]))
    began = close_among(evidence[:start] + log((1 - JOINERS) * delta))
    return np.concatenate([began, evidence[start:] >= needed])


def close_among(logs: Floats) -> Flags:
    """Test closed, by averages: (m,) flags; ``logs`` are relative to the level."""
    excess = np.exp(np.minimum(logs, CAP)) - 1
    lacking = np.maximum(-excess, 0)
    others: Floats = lacking.sum() - lacking
    return np.asarray(excess >= others)


def is_settled(
    rewards: ArrayLike,
    pulls: ArrayLike,
    mark: float,
    tolerance: float,
    delta: float,
    *,
    questions: ArrayLike | None = None,
    joined: int = 0,
) -> Flags:
    """Find (n,) flags of workers that need no further answers.

    They are shown to reach the mark, or to be below the mark and the tolerance together.
    """
    more = {"questions": questions, "joined": joined}
    reaches = show_at_least(rewards, pulls, mark, delta, **more)  # type: ignore[arg-type]
    short = show_below(rewards, pulls, mark + tolerance, delta, **more)  # type: ignore[arg-type]
    return reaches | short

"""E-detectors: how often an alarm is false is known before the first answer.

The null hypothesis of a worker is that each answer is right with a probability of at least the
level, whatever happened before: answers need not be independent. A right answer multiplies the
evidence against it by b / level, a wrong one by (1 - b) / (1 - level), for each of a few accuracies
b below the level; the mean of that factor is at most 1 under the hypothesis. Evidence is summed
over all times at which a fall may have begun (Shin, Ramdas and Rinaldo, 2024, E-detectors: a
nonparametric framework for sequential change detection, section 3).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiled import compiled
from ..problem import ProblemError

FALLS = np.array([0.875, 0.75, 0.56])  # accuracies after a fall, as shares of the level
WEIGHTS = np.array([0.7, 0.23, 0.07])  # of the falls
PLAYS, STEPS, TRIES = (200, 2000), 4e6, 8  # of a calibration: the fewer, the longer each is
ERRORS = 5.0  # standard errors that it allows for

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class _Detector(ABC):
    """Evidence against each worker, and an alarm where it reaches a threshold.

    level    accuracy that workers should keep, in (0, 1)
    lasting  True if the weights of all beginnings of a fall sum to 1
    """

    level: float
    lasting: ClassVar[bool]

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ProblemError(f"The level is {self.level:g}; it must lie between 0 and 1.")

    @property
    @abstractmethod
    def threshold(self) -> float:
        """Evidence at which a worker is reported."""

    def begin(self, n: int) -> Floats:
        """Begin with the evidence against n workers without an answer.

        A lasting detector has a further column, the number of answers.
        """
        return np.zeros((n, FALLS.size + self.lasting))

    def observe(self, evidence: Floats, workers: ArrayLike, right: ArrayLike) -> Floats:
        """Update the evidence by further answers, given in the order of their questions.

        evidence  (n, falls) evidence against each worker
        workers   (m,) numbers of the workers that answered
        right     (m,) True for a right answer

        Evidence that has reached the threshold stays: an alarm is dismissed by a new beginning.
        """
        return observe_each(evidence, workers, right, self.level, self.threshold)

    def alarms(self, evidence: Floats) -> NDArray[np.bool_]:
        """Flag (n,) workers that are reported."""
        return np.asarray(evidence[:, : FALLS.size].sum(1) >= self.threshold)


@dataclass(frozen=True)
class DriftDetector(_Detector):
    """An alarm for each worker, false once in ``once_in`` answers on average, or more rarely.

    once_in  answers of a worker, on average, until a false alarm; at least 10

    The worst case of the hypothesis are independent answers at the level itself: with any other
    accuracies, the evidence can be coupled to stay below. There, the mean evidence at an alarm is
    the mean time until it, so that the excess over the threshold, which is simulated, lowers the
    threshold. It allows for five standard errors.
    """

    once_in: int
    lasting = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.once_in >= 10:
            raise ProblemError(f"once_in is {self.once_in}; it must be at least 10 answers.")

    @property
    def threshold(self) -> float:
        return _calibrate(self.level, self.once_in)


@dataclass(frozen=True)
class LastingDetector(_Detector):
    """Alarms of which, with probability 1 - delta, none is ever false.

    delta    probability that any worker that keeps the level is ever reported, in (0, 1)
    workers  number of workers

    The beginnings of a fall have weights that sum to 1, so that the evidence is an e-process and
    Ville's inequality holds. ``select_alarms`` reports more workers, a few of them falsely.
    """

    delta: float
    workers: int = 1
    lasting = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.delta < 1:
            raise ProblemError(f"delta is {self.delta:g}; it must lie between 0 and 1.")
        if self.workers < 1:
            raise ProblemError(f"workers is {self.workers}; there must be at least one.")

    @property
    def threshold(self) -> float:
        return self.workers / self.delta


def observe_each(
    evidence: ArrayLike,
    workers: ArrayLike,
    right: ArrayLike,
    levels: ArrayLike,
    thresholds: ArrayLike,
) -> Floats:
    """Return the evidence after further answers; each worker has a level and a threshold.

    levels, thresholds  (n,) of detectors of one class, or one number for all workers
    """
    added = np.array(evidence, np.float64)
    places, outcomes = np.asarray(workers, np.int64), np.asarray(right, np.int64)
    if places.shape != outcomes.shape or places.ndim != 1:
        raise ProblemError("Each answer needs its worker: workers and right have one length.")
    if places.size and (places.min() < 0 or places.max() >= len(added)):
        raise ProblemError(f"The number of a worker lies between 0 and {len(added) - 1}.")
    each, bars = (
        np.broadcast_to(np.asarray(values, np.float64), len(added)).copy()
        for values in (levels, thresholds)
    )
    lasting = added.shape[1] > FALLS.size
    _observe(added, places, outcomes, _factors(each), WEIGHTS, bars, lasting)
    return added


def select_alarms(evidence: ArrayLike, delta: float) -> Ints:
    """Select the workers to report together: at most a share delta of them is false, on average.

    evidence  (n,) sums of the evidence of a ``LastingDetector``, at any time

    e-BH (Wang and Ramdas, 2022, False discovery rate control with e-values), for any dependence.
    """
    sums = np.asarray(evidence, np.float64)
    order = np.argsort(-sums, kind="stable")
    enough = np.flatnonzero(sums[order] * np.arange(1, sums.size + 1) * delta >= sums.size)
    return np.sort(order[: enough[-1] + 1]) if enough.size else order[:0]


def _factors(level: ArrayLike) -> Floats:
    """Compute (..., falls, 2) factors of the evidence: of a wrong answer and of a right one."""
    before = np.asarray(level, np.float64)[..., None]
    after = before * FALLS
    return np.stack([(1 - after) / (1 - before), after / before], axis=-1)


@lru_cache(1024)
def _calibrate(level: float, once_in: int) -> float:
    """Find a threshold with a mean time of ``once_in`` until an alarm at this accuracy.

    The evidence minus the number of answers is a martingale, so that this time is the mean evidence
    at the alarm: the threshold times its mean excess, which varies little.
    """
    factors, threshold = _factors(level), float(once_in)
    plays = int(np.clip(STEPS / once_in, *PLAYS))
    for seed in range(TRIES):
        excess = _play_to_alarms(level, factors, WEIGHTS, threshold, plays, seed) / threshold
        least = max(1.0, float(excess.mean() - ERRORS * excess.std() / plays**0.5))
        if seed and threshold * least >= once_in:
            return threshold
        threshold = min(float(once_in), 1.002 * once_in / least)
    return float(once_in)  # valid without a simulation: the excess is at least 1


@compiled
def _observe(evidence, workers, right, factors, weights, thresholds, lasting):  # type: ignore[no-untyped-def]
    falls = weights.size
    for i in range(workers.size):
        row, steps = evidence[workers[i]], factors[workers[i]]
        total = 0.0
        for j in range(falls):
            total += row[j]
        if total >= thresholds[workers[i]]:
            continue
        share = 1.0
        if lasting:
            row[falls] += 1.0
            share = 1.0 / (row[falls] * (row[falls] + 1.0))
        for j in range(falls):
            row[j] = (row[j] + share * weights[j]) * steps[j, right[i]]


@compiled
def _play_to_alarms(level, factors, weights, threshold, plays, seed):  # type: ignore[no-untyped-def]
    """Simulate (plays,) evidence at the alarms of workers at this level."""
    np.random.seed(seed)
    ends = np.empty(plays)
    for play in range(plays):
        row = np.zeros(weights.size)
        total = 0.0
        while total < threshold:
            grade = 1 if np.random.random() < level else 0
            total = 0.0
            for j in range(weights.size):
                row[j] = (row[j] + weights[j]) * factors[j, grade]
                total += row[j]
        ends[play] = total
    return ends

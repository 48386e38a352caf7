"""Power of the test of identical errors: how often it would notice copying in a run's own answers.

Copying is planted in the recorded answers of randomly drawn pairs. Copying of all answers is the
easiest case to detect: partial copying is noticed less often. Workers that have the correct answers
are not simulated: right answers alone leave no sign, so the power is that of chance.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .identical_errors import BINS, TELLING, WIDTH, pairs_to_reckon_with

CASES = 400  # planted: the standard error of a power is at most 2.5 percentage points
SEED = 20

Ints = NDArray[np.int64]


def copying_power(
    workers: ArrayLike, questions: ArrayLike, answers: ArrayLike, able: Ints, rate: float
) -> float:
    """Compute how often ``identical_errors`` would report a worker that copies all answers of
    another.

    workers, questions  (a,) numbers from 0, each pair at most once
    answers             (a,) number of the wrong answer given, from 0; -1 for a right one
    able                (BINS,) pairs by their evidence, as ``compare`` returns them
    rate                as in ``identical_errors``

    A copier agrees with the source wherever the source is wrong and both were asked. The exact
    probability of that by chance is the product over these questions of how likely two wrong
    answers agree, counted after copying. Returns 0.0 with fewer than two workers.
    """
    items, number = np.asarray(questions, np.int64), np.asarray(answers, np.int64)
    ids, numbers = np.unique(np.asarray(workers, np.int64), return_inverse=True)
    if ids.size < 2:
        return 0.0
    crowd = _Crowd(numbers, items, number)
    drawn = _drawn_pairs(ids.size).tolist()
    return float(np.mean([_is_reported(crowd.copied(*pair), able, rate) for pair in drawn]))


def _is_reported(chance: float, able: Ints, rate: float) -> bool:
    """Tell if a pair that agrees wherever it can is reported among the others."""
    with_it = able.copy()
    with_it[min(int(-np.log(chance) / WIDTH), BINS - 1)] += 1
    return chance * pairs_to_reckon_with(with_it, rate) <= rate


def _drawn_pairs(size: int) -> Ints:
    """Draw (CASES, 2) different workers: a source and a copier."""
    rng = np.random.default_rng(SEED)
    source = rng.integers(size, size=CASES)
    return np.stack([source, (source + rng.integers(1, size, CASES)) % size], axis=1)


class _Crowd:
    """The counted answers by worker and by question."""

    def __init__(self, workers: Ints, questions: Ints, answers: Ints) -> None:
        self.by_worker: list[dict[int, int]] = [{} for _ in range(int(workers.max()) + 1)]
        self.by_question: dict[int, dict[int, int]] = {}
        for worker, question, answer in zip(
            workers.tolist(), questions.tolist(), answers.tolist(), strict=True
        ):
            self.by_worker[worker][question] = answer
            if answer >= 0:
                counts = self.by_question.setdefault(question, {})
                counts[answer] = counts.get(answer, 0) + 1

    def copied(self, source: int, copier: int) -> float:
        """Compute the probability by chance of all agreements that copying makes."""
        chance = 1.0
        for question, answer in self.by_worker[source].items():
            own = self.by_worker[copier].get(question)
            if own is not None and answer >= 0:
                agree = self._agree(question, own, answer)
                chance *= agree if agree <= TELLING else 1.0
        return chance

    def _agree(self, question: int, before: int, after: int) -> float:
        """Compute the probability that two wrong answers agree once one worker's is replaced."""
        counts = dict(self.by_question[question])
        if before >= 0:
            counts[before] -= 1
        counts[after] += 1
        wrong = sum(counts.values())
        alike = sum(count * (count - 1) for count in counts.values())
        return alike / (wrong * (wrong - 1))

"""A test for workers that are right and wrong on the same questions more often than by chance.

Guarantees about questions like these assume that workers are independent (docs/certified.md,
section 1). If every worker meets the questions in an order of its own, and its answers do not
depend on that order, then any of the questions that it answered may as well have been those it got
right. So its right answers are dealt out anew among its questions, worker by worker, however often
they were asked and by whatever rule: the observed answers are then one of equally likely draws.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

DRAWS = 99
MOST_WORKERS, MOST_ANSWERS = 200, 20_000  # compared at most: half a second
FALSE_ALARM = 1 / (DRAWS + 1)


def same_questions(workers: ArrayLike, questions: ArrayLike, right: ArrayLike) -> bool:
    """Tell if more is shared than in each of DRAWS draws: by chance at most once in a hundred.

    workers, questions  (answers,) numbers from 0, each pair at most once
    right               (answers,) 0 or 1

    The statistic is how much of all answers, each less its worker's mean, a single pattern of
    questions explains: much if all find the same ones hard, or if groups know different topics. Of
    a large pool the MOST_WORKERS with the most answers are compared, or fewer, so that they have
    MOST_ANSWERS at most.
    """
    workers, questions = np.asarray(workers, np.int64), np.asarray(questions, np.int64)
    busy = _busiest_workers(np.bincount(workers))
    order = np.lexsort((questions, workers))
    order = order[np.isin(workers[order], busy)]
    workers, questions = workers[order], questions[order]
    deviations = _less_mean(workers, np.asarray(right, np.float64)[order])
    if not deviations.any():
        return False
    observed = _shared_variance(workers, questions, deviations)
    rng = np.random.default_rng(0)
    return not any(
        _shared_variance(
            workers, questions, deviations[np.lexsort((rng.random(deviations.size), workers))]
        )
        >= observed * (1 - 1e-9)
        for _ in range(DRAWS)
    )


def _busiest_workers(answers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find the workers with the most answers, at least two: one alone has nobody to be compared
    with.
    """
    order = np.argsort(-answers, kind="stable")[:MOST_WORKERS]
    return order[: max(2, int(np.searchsorted(np.cumsum(answers[order]), MOST_ANSWERS, "right")))]


def _less_mean(workers: NDArray[np.int64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standardise deviations from the worker's mean; 0 for a worker always right or wrong."""
    answers = np.maximum(np.bincount(workers), 1)
    mean = np.bincount(workers, right) / answers
    spread = np.sqrt(mean * (1 - mean))
    deviations: NDArray[np.float64] = (right - mean[workers]) / np.where(spread > 0, spread, 1)[
        workers
    ]
    return np.where(spread[workers] > 1e-9, deviations, 0.0)


def _shared_variance(
    workers: NDArray[np.int64], questions: NDArray[np.int64], deviations: NDArray[np.float64]
) -> float:
    """Compute the largest squared singular value of workers by questions."""
    table = np.zeros((workers.max() + 1, questions.max() + 1))
    table[workers, questions] = deviations
    table = table[np.unique(workers)]
    products = table @ table.T if table.shape[0] < table.shape[1] else table.T @ table
    return float(np.linalg.eigvalsh(products)[-1])

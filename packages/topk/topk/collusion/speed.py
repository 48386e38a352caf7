"""Workers that answer in far less time than the crowd takes for the same questions.

A worker's pace is the median of log(seconds / the question's own median). Workers differ; how much
is estimated from the crowd itself: paces of people are close to normal (van der Linden, Journal of
Educational and Behavioral Statistics 31 (2006)). The quickest are compared with the rest, one after
the other, so that several do not hide each other (Rosner, Technometrics 25 (1983), one-sided). To
be reported, a worker must also take less than a third of the usual time: if all are much alike,
being a little quicker means nothing.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

ANSWERS = 8  # least number of a worker
CROWD = 5  # least number of answers to a question, for its median to be used
WORKERS = 10  # least number of workers, to estimate how people differ
IMPLAUSIBLE = 1 / 3
MOST = 60  # workers tested one after the other, at most
SHORTEST = 0.05  # seconds: less is an error of the clock

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class QuickWorker:
    """A worker that is too quick.

    pace    of the crowd's time: 0.2 is a fifth
    chance  probability of any worker so quick in the whole pool, if all are of one kind
    """

    worker: int
    answers: int
    pace: float
    chance: float


def too_quick(
    workers: ArrayLike, questions: ArrayLike, seconds: ArrayLike, rate: float
) -> list[QuickWorker]:
    """Find the workers that are too quick, the quickest first.

    workers, questions  (a,) numbers from 0
    seconds             (a,) from being shown the question to answering it
    rate                probability at most that any worker is reported if all are of one kind
    """
    numbers, items = np.asarray(workers, np.int64), np.asarray(questions, np.int64)
    logs = np.log(np.maximum(np.asarray(seconds, np.float64), SHORTEST))
    usual, many = _group_medians(items, logs)
    usable = many[items] >= CROWD
    return _quick_workers(numbers[usable], (logs - usual[items])[usable], rate)


def _quick_workers(workers: Ints, logs: Floats, rate: float) -> list[QuickWorker]:
    """Find the workers that are too quick.

    logs  (a,) how much longer each answer took than the crowd's
    """
    paces, answers = _group_medians(workers, logs)
    who = np.flatnonzero(answers >= ANSWERS)
    if who.size < WORKERS:
        return []
    beyond = _evened_out(workers, logs, paces, answers, who)
    order = np.argsort(beyond, kind="stable")
    who, chances = who[order], _against_the_rest(beyond[order])
    striking = np.flatnonzero(chances <= rate)
    reported = who[: striking[-1] + 1 if striking.size else 0]
    return [
        QuickWorker(int(one), int(answers[one]), float(np.exp(paces[one])), float(chance))
        for one, chance in zip(reported, chances, strict=False)
        if paces[one] < np.log(IMPLAUSIBLE)
    ]


def _evened_out(workers: Ints, logs: Floats, paces: Floats, answers: Ints, who: Ints) -> Floats:
    """Measure (who,) distances from the middle, in the spread that chance leaves for so many
    answers.

    A median of n answers has the variance pi / 2n times theirs; the differences of people are
    added.
    """
    eligible = np.isin(workers, who)
    within = _robust_deviation(logs[eligible] - paces[workers[eligible]])
    noise = np.pi / 2 * within**2 / answers[who]
    people = max(0.0, _robust_deviation(paces[who]) ** 2 - float(np.median(noise)))
    middle = float(np.median(paces[who]))
    beyond: Floats = (paces[who] - middle) / np.sqrt(people + noise + 1e-12)
    return beyond


def _robust_deviation(values: Floats) -> float:
    """Estimate the standard deviation by the median deviation, which few outliers do not change."""
    return 1.4826 * float(np.median(np.abs(values - np.median(values))))


def _group_medians(groups: Ints, values: Floats) -> tuple[Floats, Ints]:
    """Find the median of each group, and its size; nan for an empty one."""
    order = np.lexsort((values, groups))
    many = np.bincount(groups)
    first = np.cumsum(many) - many
    middle = np.full(many.size, np.nan)
    some = many > 0
    ordered = values[order]
    low, high = first + (many - 1) // 2, first + many // 2
    middle[some] = (ordered[low[some]] + ordered[high[some]]) / 2
    return middle, many


def _against_the_rest(paces: Floats) -> Floats:
    """Compute (m,) for each of the quickest quarter (ascending), the chance of any worker like it.

    Each is compared with the slower ones, by Student's t. The first counts half, the next a
    quarter, and so on. All is doubled: medians of few answers are not quite normal, and without it
    some pools had twice the false alarms (packages/topk/tests/collusion).
    """
    most = min(max(1, paces.size // 4), MOST)
    rest = paces.size - np.arange(most, dtype=np.float64)  # the worker and all slower ones
    behind = rest - 1
    apart = paces - paces.mean()
    sums, squares = (np.cumsum(each[::-1])[::-1][1 : most + 1] for each in (apart, apart**2))
    mean = sums / behind
    spread = np.sqrt(np.maximum(squares - behind * mean**2, 1e-12) / (behind - 1))
    t = (apart[:most] - mean) / (spread * np.sqrt(1 + 1 / behind))
    chances: Floats = scipy.special.stdtr(behind - 1, t) * rest * 2.0 ** (2 + np.arange(most))
    return chances

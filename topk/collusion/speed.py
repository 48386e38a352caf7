"""Workers who answer in far less time than the crowd takes for the same questions.

A worker's pace is the median of log(seconds / the question's own median). Workers differ; how much
is taken from the crowd itself: paces of people are close to normal (van der Linden, Journal of
Educational and Behavioral Statistics 31 (2006)). The quickest are held against the rest, one after
the other, so that several do not hide each other (Rosner, Technometrics 25 (1983), one-sided). To
be named, a worker must also take less than a third of the usual time: where all are much alike,
a little quicker is nothing to speak of.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

ANSWERS = 8  # of a worker at least
CROWD = 5  # answers to a question at least, before its median says anything
WORKERS = 10  # at least, before they say how people differ
IMPLAUSIBLE = 1 / 3
MOST = 60  # are looked at one after the other
SHORTEST = 0.05  # seconds: less is the clock's

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class QuickWorker:
    """pace    of the crowd's time: 0.2 is a fifth
    chance  of finding anybody so quick in the whole pool, if all are of one kind
    """

    worker: int
    answers: int
    pace: float
    chance: float


def too_quick(
    workers: ArrayLike, questions: ArrayLike, seconds: ArrayLike, rate: float
) -> list[QuickWorker]:
    """Those who are, the quickest first.

    workers, questions  (a,) numbers from 0
    seconds             (a,) from being shown the question to answering it
    rate                probability at most that anybody is named where all are of one kind
    """
    who, asked = np.asarray(workers, np.int64), np.asarray(questions, np.int64)
    logs = np.log(np.maximum(np.asarray(seconds, np.float64), SHORTEST))
    usual, many = _group_medians(asked, logs)
    known = many[asked] >= CROWD
    return _quick_workers(who[known], (logs - usual[asked])[known], rate)


def _quick_workers(workers: Ints, logs: Floats, rate: float) -> list[QuickWorker]:
    """logs  (a,) how much longer each answer took than the crowd's"""
    paces, answers = _group_medians(workers, logs)
    who = np.flatnonzero(answers >= ANSWERS)
    if who.size < WORKERS:
        return []
    beyond = _evened_out(workers, logs, paces, answers, who)
    order = np.argsort(beyond, kind="stable")
    who, chances = who[order], _against_the_rest(beyond[order])
    striking = np.flatnonzero(chances <= rate)
    named = who[: striking[-1] + 1 if striking.size else 0]
    return [
        QuickWorker(int(one), int(answers[one]), float(np.exp(paces[one])), float(chance))
        for one, chance in zip(named, chances, strict=False)
        if paces[one] < np.log(IMPLAUSIBLE)
    ]


def _evened_out(workers: Ints, logs: Floats, paces: Floats, answers: Ints, who: Ints) -> Floats:
    """(who,) how far each is from the middle, in the spread that so many answers leave to chance.

    A median of n answers has the variance pi / 2n times theirs; what people differ comes on top.
    """
    own = np.isin(workers, who)
    within = _robust_deviation(logs[own] - paces[workers[own]])
    noise = np.pi / 2 * within**2 / answers[who]
    people = max(0.0, _robust_deviation(paces[who]) ** 2 - float(np.median(noise)))
    middle = float(np.median(paces[who]))
    beyond: Floats = (paces[who] - middle) / np.sqrt(people + noise + 1e-12)
    return beyond


def _robust_deviation(values: Floats) -> float:
    """The standard deviation, whatever a few of them are: from the median deviation."""
    return 1.4826 * float(np.median(np.abs(values - np.median(values))))


def _group_medians(groups: Ints, values: Floats) -> tuple[Floats, Ints]:
    """By group, the median, and of how many; nan where there is none."""
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
    """(m,) for each of the quickest quarter (ascending), the chance of finding anybody like it.

    Each is held against those who are slower, by Student's t. The first counts half, the next a
    quarter, and so on. All is doubled: medians of few answers are not quite normal, and without it
    some pools had twice the false alarms (tests/topk/signs).
    """
    most = min(max(1, paces.size // 4), MOST)
    rest = paces.size - np.arange(most, dtype=np.float64)  # itself and those behind
    behind = rest - 1
    apart = paces - paces.mean()
    sums, squares = (np.cumsum(each[::-1])[::-1][1 : most + 1] for each in (apart, apart**2))
    mean = sums / behind
    spread = np.sqrt(np.maximum(squares - behind * mean**2, 1e-12) / (behind - 1))
    t = (apart[:most] - mean) / (spread * np.sqrt(1 + 1 / behind))
    chances: Floats = stdtr(behind - 1, t) * rest * 2.0 ** (2 + np.arange(most))
    return chances

"""Jumps: a worker that is right much more often from some answer on; an exact change-point test.

Each worker meets the questions in an order of its own, so without a change any order of the same
right and wrong answers is equally likely, however hard the questions are. The test looks at the
first 16, 24, 32, ... answers, even if the worker is asked on: an algorithm's later choices change
nothing about these, so the stated rate holds for any rule of asking, and for all looks of a run
together.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

LENGTHS = (16, 24, 32, 48, 64, 96, 128, 192, 256)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Jump:
    """A worker's jump: ``before`` of the first ``split`` answers were right, ``after`` of the
    others.

    answers  how many of the worker's were looked at
    chance   probability of any such jump in the whole pool, if no worker changes
    """

    worker: int
    answers: int
    split: int
    before: int
    after: int
    chance: float


def find_jumps(
    workers: ArrayLike, right: ArrayLike, everybody: int, most: int, rate: float
) -> list[Jump]:
    """Return the workers with a jump upwards, the most striking first, each once.

    workers    (a,) numbers from 0; the answers of each stand in the order asked
    right      (a,) 0 or 1
    everybody  number of workers, including those without an answer yet
    most       answers that one worker can give at most
    rate       probability at most that any worker is reported if none changes
    """
    workers, right = np.asarray(workers, np.int64), np.asarray(right, np.int64)
    order = np.argsort(workers, kind="stable")
    workers, right = workers[order], right[order]
    lengths = [length for length in LENGTHS if length <= most]
    tried = everybody * len(lengths)
    jumps: dict[int, Jump] = {}
    for length in lengths:
        who, rows = _first_answers(workers, right, length)
        for jump in _jumps_of_length(who, rows, tried, rate):
            earlier = jumps.get(jump.worker)
            if earlier is None or jump.chance < earlier.chance:
                jumps[jump.worker] = jump
    return sorted(jumps.values(), key=lambda jump: (jump.chance, jump.worker))


def _first_answers(workers: Ints, right: Ints, length: int) -> tuple[Ints, Ints]:
    """Return (w,) the workers with so many answers, and (w, length) the first of them."""
    who, first, many = np.unique(workers, return_index=True, return_counts=True)
    enough = many >= length
    return who[enough], right[first[enough][:, None] + np.arange(length)]


def _jumps_of_length(who: Ints, rows: Ints, tried: int, rate: float) -> list[Jump]:
    """Return the jumps at this length; workers with equal numbers of right answers share a law."""
    jumps = []
    totals = rows.sum(axis=1)
    length = rows.shape[1]
    for total in np.unique(totals[(totals > 0) & (totals < length)]).tolist():
        members = np.flatnonzero(totals == total)
        few = _few_before(length, total)
        so_far = rows[members].cumsum(axis=1)[:, :-1]
        tails = few[np.arange(length - 1), so_far]
        least = tails.min(axis=1)
        # The exact chance is no less than that of the split alone, so no worker is missed.
        for i in np.flatnonzero(least * tried <= rate):
            chance = _chance_of_any_split(length, total, float(least[i])) * tried
            if chance <= rate:
                split = int(tails[i].argmin()) + 1
                before = int(so_far[i, split - 1])
                jumps.append(
                    Jump(int(who[members[i]]), length, split, before, total - before, chance)
                )
    return jumps


@lru_cache(maxsize=16)  # at most 8 MB
def _few_before(length: int, total: int) -> Floats:
    """Return (length - 1, total + 1) at [t - 1, s]: the hypergeometric probability that at most s
    of ``total`` right answers are among the first t.
    """
    first = np.arange(1, length)[:, None]
    right = np.arange(total + 1)[None, :]
    with np.errstate(invalid="ignore"):
        ways = _log_choose(first, right) + _log_choose(length - first, total - right)
    law = np.exp(ways - _log_choose(np.array(length), np.array(total)))
    below: Floats = np.cumsum(np.nan_to_num(law, nan=0.0), axis=1)
    below.setflags(write=False)  # shared by all calls
    return below


def _log_choose(n: Ints, k: Ints) -> Floats:
    possible = (k >= 0) & (k <= n)
    ways = (
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(np.maximum(k, 0) + 1)
        - scipy.special.gammaln(np.maximum(n - k, 0) + 1)
    )
    chosen: Floats = np.where(possible, ways, -np.inf)
    return chosen


@lru_cache(maxsize=4096)
def _chance_of_any_split(length: int, total: int, least: float) -> float:
    """Return the probability that some split of a random order has a tail of ``least`` or less.

    A random order is walked answer by answer; mass that has come that low stays there.
    """
    few, right = _few_before(length, total), np.arange(total + 1)
    law, reached = np.zeros(total + 1), 0.0
    law[0] = 1
    for step in range(length - 1):
        up = law * np.clip((total - right) / (length - step), 0, 1)
        law = law - up
        law[1:] += up[:-1]
        low = few[step] <= least * (1 + 1e-9)
        reached += float(law[low].sum())
        law[low] = 0
    return reached

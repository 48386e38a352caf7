"""A worker who is right much oftener from some answer on: a change point, by an exact test.

Each worker meets the questions in an order of its own, so with nothing changed any order of the
same right and wrong answers is as likely, however hard the questions are. Looked at are the first
16, 24, 32, ... answers, whether or not the worker is asked on: what an algorithm does later changes
nothing about these, so the stated rate holds whatever decides whom to ask, and at all looks of a
run together.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

LENGTHS = (16, 24, 32, 48, 64, 96, 128, 192, 256)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Jump:
    """Right were ``before`` of the first ``split`` answers, and ``after`` of the others.

    answers  how many of the worker's were looked at
    chance  of finding any such jump in the whole pool, if nothing changes for anybody
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
    """The workers with a jump upwards, the most striking first, each once.

    workers    (a,) numbers from 0; the answers of each stand in the order asked
    right      (a,) 0 or 1
    everybody  how many workers there are, with those of whom there is no answer yet
    most       answers that one worker can give at most
    rate       probability at most that anybody is named where nothing changes
    """
    workers, right = np.asarray(workers, np.int64), np.asarray(right, np.int64)
    order = np.argsort(workers, kind="stable")
    workers, right = workers[order], right[order]
    lengths = [length for length in LENGTHS if length <= most]
    tried = everybody * len(lengths)
    found: dict[int, Jump] = {}
    for length in lengths:
        who, rows = _first_answers(workers, right, length)
        for jump in _jumps_of_length(who, rows, tried, rate):
            known = found.get(jump.worker)
            if known is None or jump.chance < known.chance:
                found[jump.worker] = jump
    return sorted(found.values(), key=lambda jump: (jump.chance, jump.worker))


def _first_answers(workers: Ints, right: Ints, length: int) -> tuple[Ints, Ints]:
    """(w,) who has so many answers, and (w, length) the first of them."""
    who, first, many = np.unique(workers, return_index=True, return_counts=True)
    enough = many >= length
    return who[enough], right[first[enough][:, None] + np.arange(length)]


def _jumps_of_length(who: Ints, rows: Ints, tried: int, rate: float) -> list[Jump]:
    """Those with as many right answers in all have the same law, and are looked at together."""
    found = []
    totals = rows.sum(axis=1)
    length = rows.shape[1]
    for total in np.unique(totals[(totals > 0) & (totals < length)]).tolist():
        own = np.flatnonzero(totals == total)
        few = _few_before(length, total)
        so_far = rows[own].cumsum(axis=1)[:, :-1]
        tails = few[np.arange(length - 1), so_far]
        least = tails.min(axis=1)
        # The exact chance is no less than that of the split alone, so this passes over nobody.
        for i in np.flatnonzero(least * tried <= rate):
            chance = _chance_of_any_split(few, float(least[i])) * tried
            if chance <= rate:
                split = int(tails[i].argmin()) + 1
                before = int(so_far[i, split - 1])
                found.append(Jump(int(who[own[i]]), length, split, before, total - before, chance))
    return found


def _few_before(length: int, total: int) -> Floats:
    """(length - 1, total + 1) at [t - 1, s]: how likely at most s of ``total`` right answers are
    among the first t: hypergeometric.
    """
    first = np.arange(1, length)[:, None]
    right = np.arange(total + 1)[None, :]
    with np.errstate(invalid="ignore"):
        ways = _log_choose(first, right) + _log_choose(length - first, total - right)
    law = np.exp(ways - _log_choose(np.array(length), np.array(total)))
    below: Floats = np.cumsum(np.nan_to_num(law, nan=0.0), axis=1)
    return below


def _log_choose(n: Ints, k: Ints) -> Floats:
    possible = (k >= 0) & (k <= n)
    ways = gammaln(n + 1) - gammaln(np.maximum(k, 0) + 1) - gammaln(np.maximum(n - k, 0) + 1)
    chosen: Floats = np.where(possible, ways, -np.inf)
    return chosen


def _chance_of_any_split(few: Floats, least: float) -> float:
    """How likely some split of a random order has a tail of ``least`` or less.

    Of a random order, walked answer by answer: what has come that low stays there.
    """
    length, total = few.shape[0] + 1, few.shape[1] - 1
    right = np.arange(total + 1)
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

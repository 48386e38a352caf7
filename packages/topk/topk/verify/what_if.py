"""Counterfactuals: the changes of grades that would have put an arm on the other side."""

from dataclasses import replace

import numpy as np

from topk.selected_arms import select_arms

from .dump_reader import UNCOUNTED, DumpRecord
from .marks import apply_mark
from .replaying import ReplayedRun, replay_run


def selected_numbers(record: DumpRecord, replayed: ReplayedRun) -> set[int]:
    """List the run's numbers of the arms selected; none if too few are left to choose from."""
    if replayed.selector is None:
        return set()
    early = record.ended and not record.finished
    selected = select_arms(replayed.selector, replayed.arms, early, record.proof)
    return set(apply_mark(record, selected).arms.tolist())


def flips_needed(record: DumpRecord, arm: int, upto: int | None = None) -> int | None:
    """Count the fewest of its answers, the latest first, that had to be graded the other way round.

    These are right ones of a selected arm, wrong ones of another; everything else stays the same.
    ``upto`` is the step after which it is judged. None: not even all of them would have been
    enough. 0: there are none.
    """
    rows = record.asked
    mine = (rows.arm == arm) & (rows.counted != UNCOUNTED) & ~rows.void
    mine &= rows.counted <= (upto or rows.counted.max(initial=0))
    inside = arm in selected_numbers(record, replay_run(record, upto))
    places = np.flatnonzero(mine & (rows.right == int(inside)))[::-1]

    def flips(count: int) -> bool:
        grades = rows.right.copy()
        grades[places[:count]] = int(not inside)
        # A proof is of the answers as they were.
        flipped = replace(record, asked=replace(rows, right=grades), proof={})
        return (arm in selected_numbers(flipped, replay_run(flipped, upto))) != inside

    if not places.size or not flips(places.size):
        return None if places.size else 0
    below, enough = 0, places.size
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if flips(middle) else (middle, enough)
    return enough

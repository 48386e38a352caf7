"""Questions for the selected until the run's pass mark is settled, after its rule could end."""

import numpy as np
from numpy.typing import NDArray

from selection.models import Run, pass_marks
from topk.water_filling import fill_level

from .arrays import Counts, Flags, StepArrays

STRIDE = 0.05  # of a worker's answers, that are asked at once


def hold_for_marks(arrays: StepArrays) -> None:
    """Let a run that may end go on as long as the mark of a selected worker is in doubt."""
    if arrays.ending == Run.Ending.GUARANTEE:
        arrays.doubtful = _find_doubtful(arrays)
        if arrays.doubtful.any():
            arrays.ending = None


def _find_doubtful(arrays: StepArrays) -> Flags:
    """Find (n,) flags of the arms that would be selected now and are not settled."""
    run, doubtful = arrays.run, np.zeros(arrays.ids.size, bool)
    if arrays.selector is None or not pass_marks.has_mark(run):
        return doubtful
    doubtful[arrays.roster.arms[arrays.selector.selection()]] = True
    return doubtful & ~pass_marks.needs_no_more(run, *tallies(arrays), arrays.skill)


def tallies(arrays: StepArrays) -> tuple[NDArray[np.float64], Counts]:
    """Count (n,) right answers and answers, with those of this step."""
    return arrays.rewards + arrays.new_rewards, arrays.pulls + arrays.new_pulls


def ask_doubtful(arrays: StepArrays, pending: Counts, room: Counts, slots: int) -> Counts:
    """Give (n,) assignments to the doubtful: a small share of what they have."""
    answers = arrays.pulls + arrays.new_pulls
    most = np.maximum((STRIDE * answers).astype(np.int64) + 1 - pending, 0)
    capacity = np.where(arrays.doubtful, np.minimum(most, room), 0)
    return fill_level(capacity, max(slots, 0))

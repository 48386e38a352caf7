"""The arms to ask next: those behind in pairs without enough evidence."""

import numpy as np
from numpy.typing import NDArray

from topk.selector import Counts
from topk.water_filling import fill_level

STRIDE = 0.03  # of the questions that the arms asked have met: few slots, and few in vain
FARTHEST = 1 << 40


def share_questions(
    undecided: NDArray[np.bool_], made: Counts, room: Counts, slots: int | None
) -> Counts:
    """Share out further questions, to arms that have met fewest first.

    undecided  (n, n) flags of pairs
    made       (n,) questions met or asked
    room       (n,) most further ones

    An arm gets none beyond the last that an undecided partner can still meet.
    """
    last = made + np.minimum(room, FARTHEST)
    partner = np.where(undecided, last, 0).max(axis=1)
    free = np.maximum(np.minimum(last, partner) - made, 0)
    least = int(made[free > 0].min(initial=FARTHEST))
    need: Counts = np.clip(least + 1 + int(STRIDE * least) - made, 0, free)
    return need if slots is None else fill_level(need, slots)

"""Allocation of questions if swaps certify: docs/certified.md, section 10.

The guarantee does not depend on it.
"""

import math

import numpy as np

from topk.selector import UNLIMITED

from .certificate import Chosen, Tally
from .designs import Counts, Floats
from .plan import WARM
from .swaps import Swaps

LOOK_OF_POOL = 10  # this part of the pool is asked between two looks


def share_out(
    swaps: Swaps, chosen: Chosen, tally: Tally, reach: Counts, room: Counts, slots: int
) -> Counts:
    """Return (n,) so many further answers, of the arms that make the worst swap costly; fewer
    without room.

    tally  the answers, with outstanding ones as if given with the means as they are
    reach  (n,) answers that each may still give, even if it has no room now
    """
    counts = _first_answers(tally.pulls, reach, room, slots)
    slots -= int(counts.sum())
    if ((tally.pulls + counts < WARM) & (reach > counts)).any():
        return counts
    share = tally.right / np.maximum(tally.pulls, 1)
    while slots > 0:
        pulls = tally.pulls + counts
        then = Tally(pulls, np.rint(share * pulls).astype(np.int64))
        swap = swaps.worst(chosen, then, reach > counts)
        free = room[swap.arms] > counts[swap.arms]
        if not free.any():
            break  # no worker that is needed has room
        arms, gain = swap.arms[free], swaps.gain(swap, chosen, then)[free]
        look = min(slots, max(1, pulls.size // LOOK_OF_POOL))
        given = np.minimum(_share_in_turn(gain, pulls[arms], look), room[arms] - counts[arms])
        counts[arms] += given
        slots -= int(given.sum())
    return counts


def _first_answers(pulls: Counts, reach: Counts, room: Counts, slots: int) -> Counts:
    """Return (n,) some answers of all before anything is foreseen, the fewest first (8.1)."""
    counts = np.zeros_like(pulls)
    for made in range(int(pulls.min()), WARM):
        arms = np.flatnonzero((pulls + counts == made) & (reach > counts) & (room > counts))
        counts[arms[: slots - int(counts.sum())]] += 1
    return counts


def _share_in_turn(gain: Floats, pulls: Counts, answers: int) -> Counts:
    """Give each answer to the arm of largest gain, which falls with more answers."""
    more = np.zeros(gain.size, np.int64)
    for _ in range(answers):
        more[np.argmax(gain * ((pulls + 1) / (pulls + more + 1)) ** 1.5)] += 1
    return more


def answers_lacking(swaps: Swaps, chosen: Chosen, tally: Tally, wanted: float) -> int:
    """Return the answers foreseen until the bound is ``wanted``.

    The bound's excess over the means of the swapped arms falls with the root of the answers.
    """
    swap = swaps.worst(chosen, tally)
    if swap.total <= wanted:
        return 0
    lead = swap.lead(chosen, tally)
    if wanted + lead <= 0:
        return UNLIMITED
    fall = (swap.total + lead) / (wanted + lead)
    return int(min(math.ceil(float(tally.pulls.sum()) * (fall**2 - 1)), UNLIMITED))

"""Allocation of questions if swaps certify: docs/certified.md, section 4.

The guarantee does not depend on it.
"""

import math
from dataclasses import dataclass

import numpy as np

from topk.best_sets import Quotas
from topk.selector import UNLIMITED

from .swaps import Swaps
from .tally import Chosen, Counts, Floats, Tally

WARM = 4  # answers of each worker before any is compared
AIM = 0.9  # plan for this part of the wanted bound
BATCH_OF_POOL, BATCH_OF_ANSWERS = 20, 0.015  # size of a batch if no slots are given
LOOK_OF_POOL = 10  # this part of the pool is asked between two looks

AMONG_EQUALS = 1e-9


def best_means(quotas: Quotas, means: Floats, tally: Tally) -> Chosen:
    """Return (n,) flags of the best means; among equal ones those with more answers."""
    shrunk = (tally.right + 0.5) / (tally.pulls + 1)
    return quotas.best(means + AMONG_EQUALS * shrunk)


@dataclass(frozen=True)
class Foreseen:
    """The answers that are in, and what to take of those to come.

    means      (n,) estimates, which outstanding answers are taken to leave as they are
    questions  0, or the size of the set that accuracy means
    """

    quotas: Quotas
    means: Floats
    tally: Tally
    questions: int

    def after(self, pulls: Counts) -> Tally:
        return Tally(pulls, np.rint(np.minimum(self.means, 1) * pulls).astype(np.int64))

    def reach(self, pending: Counts, room: Counts) -> Counts:
        """Return (n,) answers to plan with: workers without room now will have room again."""
        made = self.tally.pulls + pending
        most = np.maximum(self.questions - made, 0) if self.questions else UNLIMITED // 2
        return np.where((room > 0) | (pending > 0), most, 0)


def ask_for_swaps(
    swaps: Swaps,
    foreseen: Foreseen,
    wanted: float,
    slots: int | None,
    pending: Counts,
    room: Counts,
) -> Counts:
    """Return (n,) how many more answers each worker should give now.

    wanted  the bound on K times the regret to reach
    """
    reach, pulls = foreseen.reach(pending, room), foreseen.tally.pulls
    then = foreseen.after(pulls + pending)
    chosen = best_means(foreseen.quotas, foreseen.means, then)
    left = max(1, pulls.size // BATCH_OF_POOL, int(BATCH_OF_ANSWERS * int(pulls.sum())))
    if slots is not None:
        known = pulls.min() >= WARM
        needed = (
            answers_lacking(swaps, chosen, foreseen.tally, AIM * wanted) if known else UNLIMITED
        )
        left = min(slots, max(left, needed) - int(pending.sum()))
    return share_out(swaps, chosen, then, reach, np.minimum(room, reach), left)


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
    """Return (n,) some answers of all before anything is foreseen, the fewest first."""
    counts = np.zeros_like(pulls)
    for made in range(int(pulls.min()), WARM):
        arms = np.flatnonzero((pulls + counts == made) & (reach > counts) & (room > counts))
        counts[arms[: slots - int(counts.sum())]] += 1
    return counts


def _share_in_turn(gain: Floats, pulls: Counts, answers: int) -> Counts:
    """Give each answer to the arm of largest gain, which falls with more answers.

    Where none is foreseen to gain, to the one that was asked least: to ask the same for ever, whose
    further answers change nothing, would never end.
    """
    if gain.max() <= 0:
        gain = 1 / (pulls + 1.0)
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

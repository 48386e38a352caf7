"""The arms that a look-ahead may pull, so that its looks pass over few of very many arms."""

import numpy as np
from numpy.typing import NDArray

from .layout import (
    CLOCK,
    COIN,
    HIGH,
    INNER,
    ITERATED,
    MEAN,
    MOST_PULLED,
    OUTER,
    PAIR,
    SHUT,
    TOTAL,
    Arms,
    Counts,
    Memo,
    Strategy,
)
from .looks import look
from .radii import scale_of

MANY = 10_000  # arms, from which this saves more than it takes
SLIP = 1e-9  # more than rounding changes


def find_near_ends(
    strategy: Strategy, arms: Arms, memo: Memo, slots: int, judged: Arms | None
) -> Counts:
    """Return the arms among which looks for so many pulls find their pairs, in order.

    judged  a board with the same means after a look, if there is one

    A look takes the arm at the end of the bounds on each side. Its pulls move this arm inwards, and
    the common scale moves all arms a little. So the end is among the ``slots + 1`` nearest arms.
    """
    pairs = strategy.sampling in (PAIR, COIN) and strategy.radius in (CLOCK, ITERATED)
    if arms.shape[1] < MANY or not pairs:
        return np.arange(arms.shape[1])
    if judged is not None:
        arms[HIGH] = judged[HIGH]
    look(strategy, arms, memo)  # after which HIGH has the K best means
    scale, later = scale_of(strategy, arms, memo), memo.copy()
    later[[TOTAL, MOST_PULLED]] += slots
    growth = scale_of(strategy, arms, later) - scale
    inside, open_arms = arms[HIGH] < 0, arms[SHUT] == 0
    near = np.zeros(arms.shape[1], bool)
    for side, sign, row in ((inside, 1, INNER), (~inside, -1, OUTER)):
        places = np.flatnonzero(side & open_arms)
        radii = arms[row, places]
        bounds = sign * arms[MEAN, places] - scale * radii
        near[places[_is_near_least(bounds, growth * radii, slots)]] = True
    return np.flatnonzero(near)


def _is_near_least(bounds: Arms, moves: Arms, others: int) -> NDArray[np.bool_]:
    """Return True for bounds that can be the least once ``others`` of them went up."""
    if bounds.size <= others:
        return np.ones(bounds.size, bool)
    least: NDArray[np.bool_] = bounds - moves <= np.partition(bounds, others)[others] + SLIP
    return least


def narrow_board(strategy: Strategy, arms: Arms, memo: Memo, near: Counts) -> tuple[Arms, Memo]:
    """Return the board of these arms alone, with the same clock."""
    narrow = memo.copy()
    if strategy.tick == 2:  # which starts after one pull of each arm
        narrow[TOTAL] -= arms.shape[1] - near.size
    return np.ascontiguousarray(arms[:, near]), narrow

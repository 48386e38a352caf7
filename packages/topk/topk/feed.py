"""Feeding an algorithm stored answers: as many as it takes, in order of arm and position."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .selector import Counts, Selector


def choose_answers(
    kind: type[Selector], present: NDArray[np.bool_], void: NDArray[np.bool_], right: Counts
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Choose (a,) flags of the answers to tell, and their rewards.

    present  (a,) flags of the answers of arms on the roster
    void     (a,) flags of answers to retired questions: with a common order each keeps its place,
             as nan
    """
    if kind.common_order:
        return present, np.where(void, np.nan, right)
    return present & ~void, right


def tell_in_turn(
    selector: Selector, ready: NDArray[np.bool_], arms: Counts, places: Counts, right: NDArray[Any]
) -> NDArray[np.bool_]:
    """Tell the algorithm as much as it takes now, until it takes no more; return (a,) flags of
    those told.

    ready   (a,) flags of the answers that may be told; all are in order of arm and position
    arms    (a,) by the run's numbers; places by the algorithm's
    """
    takes = np.zeros(ready.size, bool)
    while True:
        waiting = ready & ~takes
        # (m,) 0 for an arm's first answer that is left, 1 for its second: they are in order of arm.
        turn = np.arange(waiting.sum()) - np.searchsorted(arms[waiting], arms[waiting])
        batch = np.flatnonzero(waiting)[turn < selector.takes()[places[waiting]]]
        if not batch.size:
            return takes
        selector.tell(places[batch], right[batch])
        takes[batch] = True

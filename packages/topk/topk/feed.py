"""Feeding an algorithm answers that came before their round: as many as it takes, in order."""

import numpy as np
from numpy.typing import NDArray

from .selector import Counts, Selector


def tell_in_turn(
    selector: Selector, ready: NDArray[np.bool_], arms: Counts, places: Counts, right: Counts
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

"""What a selection for several kinds of task loses, by the recorded accuracies."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selection.models import Run

from .crowd import RecordedCrowd


@dataclass(frozen=True)
class SelectionLosses:
    """Mean accuracy of the best selection that the run allows, less that of the chosen.

    overall    over all places
    each       over the places of each kind; below 0 where the chosen are better in that kind, for
               which the best selection has more in another
    unknown    by kind, how many of the workers have no recorded answer to a task of it
    """

    overall: float
    each: list[float]
    unknown: list[int]


def compute_losses(
    run: Run, crowd: RecordedCrowd, chosen: Sequence[Sequence[str]]
) -> SelectionLosses:
    """chosen  workers by kind. Who has no recorded answer of a kind counts as never right there."""
    known = [[kind.accuracy.get(worker, 0.0) for worker in crowd.workers] for kind in crowd.kinds]
    values = np.array(known)
    best = np.zeros(values.size, bool)
    best[run.selector(len(crowd.workers)).best(values.ravel())] = True
    taken = np.array([[worker in own for worker in crowd.workers] for own in chosen])
    lost = (values * best.reshape(values.shape) - values * taken).sum(1)
    return SelectionLosses(
        overall=float(max(0.0, lost.sum() / taken.sum())),
        each=((lost / taken.sum(1)).round(9) + 0.0).tolist(),  # without a zero below zero
        unknown=[len(crowd.workers) - len(kind.accuracy) for kind in crowd.kinds],
    )

"""Losses of a selection for several kinds of task, by the recorded accuracies."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selection.models import Run
from selection.replays.crowd import RecordedCrowd


@dataclass(frozen=True)
class SelectionLosses:
    """Mean accuracy of the best selection that the run allows, less that of the chosen.

    overall    over all places
    each       over the places of each kind; below 0 if the chosen are better in that kind, because
               the best selection has more in another
    unknown    by kind, number of workers without a recorded answer to a task of it
    """

    overall: float
    each: list[float]
    unknown: list[int]


def compute_losses(
    run: Run, crowd: RecordedCrowd, chosen: Sequence[Sequence[str]]
) -> SelectionLosses:
    """Return the losses; ``chosen`` are the workers by kind.

    Workers without a recorded answer of a kind count as never right there.
    """
    accuracies = [
        [kind.accuracy.get(worker, 0.0) for worker in crowd.workers] for kind in crowd.kinds
    ]
    values = np.array(accuracies)
    best = np.zeros(values.size, bool)
    best[run.selector(len(crowd.workers)).best(values.ravel())] = True
    selected = np.array([[worker in workers for worker in crowd.workers] for workers in chosen])
    losses = (values * best.reshape(values.shape) - values * selected).sum(1)
    return SelectionLosses(
        overall=float(max(0.0, losses.sum() / selected.sum())),
        each=((losses / selected.sum(1)).round(9) + 0.0).tolist(),  # no -0.0
        unknown=[len(crowd.workers) - len(kind.accuracy) for kind in crowd.kinds],
    )

"""``advance`` takes a run one step further: tell, ask, save."""

import numpy as np
from django.db import transaction

from selection.models import Run, Step
from topk import BUDGET_SPENT, PROMISE_KEPT, Selector

from .arrays import Counts, Flags, StepArrays, load
from .asking import ask
from .saving import save

ENDINGS = {PROMISE_KEPT: Run.Ending.PROMISE, BUDGET_SPENT: Run.Ending.BUDGET}


def advance(run_id: int) -> Step | None:
    """Count the answers that are ripe, judge, hand out what to ask next.

    Safe to call at any time, any number of times, from any number of processes. Returns the step
    taken, or None when there was nothing to do.
    """
    with transaction.atomic():
        run = Run.objects.locked(run_id)
        if run is None or run.status != Run.Status.RUNNING:
            return None
        arrays = load(run)
        tell(arrays)
        ask(arrays)
        if not arrays.changed:
            return None
        return save(arrays)


def tell(arrays: StepArrays) -> None:
    """Count what is ripe. Those who are gone are counted too, but the algorithm is not told."""
    answers, places = arrays.answers, arrays.roster.places(arrays.answers.arms)
    known = (places >= 0) & ~answers.void
    arrays.counted = answers.ripe & ~known
    if arrays.selector is None:
        arrays.counted = answers.ripe.copy()
    else:
        _tell_rounds(arrays.selector, arrays, known, places)
        if not arrays.run.enrolling:
            for reason in arrays.selector.stop():
                arrays.ending = ENDINGS[reason]
    if not (arrays.run.enrolling or arrays.roster.enough(arrays.run)):
        arrays.ending = Run.Ending.ROSTER


def _tell_rounds(selector: Selector, arrays: StepArrays, known: Flags, places: Counts) -> None:
    """As much as the algorithm takes now, until it takes no more; the rest waits for its round."""
    answers = arrays.answers
    while True:
        left = answers.ripe & known & ~arrays.counted
        arms = places[left]
        # (m,) 0 for an arm's first answer that is left, 1 for its second: they are in order of arm.
        turn = np.arange(arms.size) - np.searchsorted(answers.arms[left], answers.arms[left])
        told = np.flatnonzero(left)[turn < selector.takes()[arms]]
        if not told.size:
            return
        selector.tell(places[told], answers.right[told])
        arrays.counted[told] = True

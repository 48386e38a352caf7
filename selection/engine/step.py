"""``advance`` takes a run one step further: tell, ask, save."""

from django.db import transaction

from selection.errors import Busy
from selection.models import Run, Step
from topk import BUDGET_SPENT, PROMISE_KEPT
from topk.feed import tell_in_turn

from .arrays import StepArrays, load_arrays
from .asking import ask_workers
from .persist import save_step
from .rejudge import is_passed_over
from .withdrawal import take_back

ENDINGS = {PROMISE_KEPT: Run.Ending.PROMISE, BUDGET_SPENT: Run.Ending.BUDGET}


def advance(run_id: int, wait: bool = True) -> Step | None:
    """Count the answers that are ripe, judge, hand out what to ask next.

    Safe to call at any time, any number of times, from any number of processes. Returns the step
    taken, or None when there was nothing to do. Raises Busy where somebody else holds the run and
    is not to be waited for.
    """
    with transaction.atomic():
        run = Run.objects.locked(run_id, wait)
        if run is None and Run.objects.running().filter(pk=run_id).exists():
            raise Busy(f"Run {run_id} is being worked on.")
        if run is None or run.status != Run.Status.RUNNING:
            return None
        arrays = load_arrays(run)
        tell(arrays)
        judge(arrays)
        ask_workers(arrays)
        if not arrays.changed:
            return None
        return save_step(arrays)


def tell(arrays: StepArrays) -> None:
    """Count what is ripe. Those who are gone are counted too, but the algorithm is not told."""
    answers, places = arrays.answers, arrays.roster.places(arrays.answers.arms)
    known = (places >= 0) & ~answers.void
    ready = answers.ripe & known
    if arrays.selector is None:
        arrays.counted = answers.ripe.copy()
    else:
        told = tell_in_turn(arrays.selector, ready, answers.arms, places, answers.right)
        silent = answers.ripe & ~known
        arrays.counted = told | is_passed_over(answers.arms, silent, ready & ~told)


def judge(arrays: StepArrays) -> None:
    """End the run if its algorithm says so, or if there is nobody left to choose from.

    Where nothing but answers that are out keeps it from its end, questions that nobody has seen yet
    go back, so that those who come late hold it up no longer than their time to answer.
    """
    selector, arms = arrays.selector, arrays.roster.arms
    if selector is not None:
        selector.wait_for(arrays.uncounted[arms])
        if not arrays.run.enrolling and selector.is_held_up():
            take_back(arrays, arms[arrays.out[arms] > 0])
            selector.wait_for(arrays.uncounted[arms])
        if not arrays.run.enrolling:
            for reason in selector.stop():
                arrays.ending = ENDINGS[reason]
    if not (arrays.run.enrolling or arrays.roster.enough(arrays.run)):
        arrays.ending = Run.Ending.ROSTER

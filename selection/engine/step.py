"""A step of a run: count answers, judge, ask, save."""

from django.db import transaction

from selection.errors import Busy
from selection.models import Run, Step
from topk import BUDGET_SPENT, GUARANTEE_KEPT
from topk.feed import choose_answers, tell_in_turn

from .arrays import StepArrays, load_arrays
from .mark_doubts import hold_for_marks
from .persist import save_step
from .rejudge import is_passed_over
from .withdrawal import take_back
from .worker_choice import ask_workers

ENDINGS = {GUARANTEE_KEPT: Run.Ending.GUARANTEE, BUDGET_SPENT: Run.Ending.BUDGET}


def advance(run_id: int, wait: bool = True) -> Step | None:
    """Take a run one step further: count the ripe answers, judge, deal new assignments.

    Safe to call at any time, any number of times, from any number of processes. Return the step
    taken, or None if there was nothing to do. Raises Busy if ``wait`` is false and another process
    holds the run.
    """
    with transaction.atomic():
        run = Run.objects.locked(run_id, wait)
        if run is None and Run.objects.running().filter(pk=run_id).exists():
            raise Busy(f"Run {run_id} is being worked on.")
        if run is None or run.status != Run.Status.RUNNING:
            return None
        arrays = load_arrays(run)
        if arrays.waits_for_models:
            return None
        tell(arrays)
        judge(arrays)
        ask_workers(arrays)
        if not arrays.changed:
            return None
        return save_step(arrays)


def tell(arrays: StepArrays) -> None:
    """Count the ripe answers; the algorithm is told only those of workers that stay."""
    answers, places = arrays.answers, arrays.roster.places(arrays.answers.arms)
    kind = arrays.run.selector_class
    rostered, rewards = choose_answers(kind, places >= 0, answers.void, answers.right)
    ready = answers.ripe & rostered
    if arrays.selector is None:
        arrays.counted = answers.ripe.copy()
    else:
        takes = tell_in_turn(arrays.selector, ready, answers.arms, places, rewards)
        silent = answers.ripe & ~rostered
        arrays.counted = takes | is_passed_over(answers.arms, silent, ready & ~takes)


def judge(arrays: StepArrays) -> None:
    """End the run if its algorithm says so, or if too few workers are left to choose from.

    If only outstanding answers hold up the end, assignments not yet shown are withdrawn, so that
    late workers delay it by no more than their time to answer.
    """
    selector, arms = arrays.selector, arrays.roster.arms
    if selector is not None:
        selector.wait_for(arrays.uncounted[arms])
        if not arrays.run.enrolling and selector.is_held_up():
            take_back(arrays, arms[arrays.outstanding[arms] > 0])
            selector.wait_for(arrays.uncounted[arms])
        if not arrays.run.enrolling:
            for reason in selector.stop():
                arrays.ending = ENDINGS[reason]
            hold_for_marks(arrays)
    if not (arrays.run.enrolling or arrays.roster.enough(arrays.run)):
        arrays.ending = Run.Ending.ROSTER

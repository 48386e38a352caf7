"""Decide how many assignments each worker gets in a step, within slots, budget and questions."""

import numpy as np
from django.db.models import Count

from selection import wakeups
from selection.answers import grace_period
from selection.models import RecordedAnswer, Run

from .arrays import Counts, Flags, StepArrays
from .mark_doubts import ask_doubtful
from .withdrawal import take_back

FIRST = 3  # questions for each worker who joins before there are enough to choose from


def ask_workers(arrays: StepArrays) -> None:
    """Decide how many assignments each worker gets, within slots, budget and questions.

    Present workers are asked first, and assignments that absent workers have not been shown do not
    reduce their share. Absent workers get only the rest.
    """
    if arrays.ending:
        return
    if arrays.run.recorded_only and arrays.outstanding.any():
        # The run was switched: workers are not asked any more.
        take_back(arrays, np.flatnonzero(arrays.outstanding > 0))
    if (arrays.unaffordable & (arrays.outstanding > 0)).any():
        take_back(arrays, np.flatnonzero(arrays.unaffordable & (arrays.outstanding > 0)))
    present = arrays.present
    unseen = np.where(present, 0, arrays.unseen)
    remaining = np.where(arrays.unaffordable, 0, _questions_left(arrays))
    free = arrays.run.slots - int(arrays.outstanding.sum() - unseen.sum())
    if present.any() and unseen.any() and _budget_left(arrays) < free:
        take_back(arrays, np.flatnonzero(unseen > 0))  # the budget that absent workers hold
        unseen = np.where(present, 0, arrays.unseen)
    arrays.counts = _ask_among(arrays, present, remaining, free)
    free -= int(arrays.counts.sum() + unseen.sum())
    if not present.all() and free > 0:
        arrays.counts = arrays.counts + _ask_among(arrays, ~present & ~arrays.gone, remaining, free)
    if _is_everyone_waiting(arrays, free):
        arrays.counts = _ask_past_stalled(arrays, present, remaining, free)
    if arrays.limits:
        arrays.counts = arrays.limits.share(arrays.skill, arrays.counts)
    if not arrays.counts.any() and not arrays.run.enrolling and _is_stuck(arrays, remaining):
        spent = arrays.run.budget is not None and _budget_left(arrays) <= 0
        spent = spent or bool(arrays.unaffordable.any())
        early = Run.Ending.BUDGET if spent else Run.Ending.QUESTIONS
        arrays.ending = Run.Ending.GUARANTEE if arrays.doubtful.any() else early


def _is_everyone_waiting(arrays: StepArrays, free: int) -> bool:
    """Tell if slots are free but nothing can be dealt because of outstanding assignments."""
    if arrays.run.recorded_only or arrays.counts.any():
        return False
    return free > 0 and bool(arrays.outstanding.any())


def _ask_past_stalled(arrays: StepArrays, present: Flags, remaining: Counts, free: int) -> Counts:
    """Deal to other workers as if stalled ones held nothing, once their grace period is over.

    Before that, schedule a step for its end.
    """
    if (seconds := grace_period.seconds_left(arrays.run)) > 0:
        wakeups.request_step_later(arrays.run.pk, seconds)
        return arrays.counts
    return _ask_among(arrays, present & (arrays.worker_load == 0), remaining, free, alone=True)


def _ask_among(
    arrays: StepArrays, mask: Flags, remaining: Counts, free: int, alone: bool = False
) -> Counts:
    """Choose (n,) how many assignments these workers get, beyond ``arrays.counts``.

    The algorithm takes outstanding assignments of the others as done, unless ``alone`` is set.
    """
    if not mask.any():
        return np.zeros_like(arrays.counts)
    room = np.where(mask, np.minimum(remaining, _free_slots(arrays)), 0) - arrays.counts
    room, slots = np.maximum(room, 0), min(free, _budget_left(arrays))
    if arrays.selector is None:
        return _initial_questions(arrays, room, slots)
    roster, pending = arrays.roster, arrays.pending + arrays.counts
    if arrays.doubtful.any():
        return ask_doubtful(arrays, np.where(mask, pending, 0) if alone else pending, room, slots)
    counts = arrays.selector.ask(
        slots=slots,
        pending=(np.where(mask, pending, 0) if alone else pending)[roster.arms],
        room=room[roster.arms],
        rng=arrays.run.step_rng(),
    )
    spread = roster.spread(counts, 0)
    if arrays.run.several and not arrays.run.recorded_only:
        return _limit_to_free_slots(arrays, spread)
    return spread


def _initial_questions(arrays: StepArrays, room: Counts, slots: int) -> Counts:
    """Choose the first questions to deal while too few workers have joined to choose from."""
    if not arrays.run.selector_class.open_roster:
        return np.zeros_like(room)
    missing = np.clip(FIRST - arrays.asked, 0, room)
    dealt: Counts = np.clip(slots - (np.cumsum(missing) - missing), 0, missing)
    return dealt


def _budget_left(arrays: StepArrays) -> int:
    """Count the assignments that may still be dealt; those of workers who left are spent."""
    if arrays.run.budget is None:
        return int(np.iinfo(np.int64).max)
    return arrays.run.budget - arrays.spent - int(arrays.counts.sum())


def _free_slots(arrays: StepArrays) -> Counts:
    """Count the further assignments that each worker may hold.

    Recorded answers take no time to give. Other workers get new assignments only once all earlier
    ones are answered. If each answer were followed by a question or by none, that would reveal
    whether it was right, because an algorithm asks those again who may be among the best
    (docs/threat-model.md): so a worker learns only something about a whole batch. Models learn
    nothing, and a slow reply must not keep a model's other calls waiting.
    """
    if arrays.run.recorded_only:
        return np.full(arrays.ids.size, arrays.run.slots)
    most, load = arrays.run.slots_per_worker, arrays.worker_load
    free: Counts = np.where(load > 0, 0, most)
    return np.where(arrays.model, np.maximum(most - load, 0), free) if arrays.free_pace else free


def _limit_to_free_slots(arrays: StepArrays, counts: Counts) -> Counts:
    """Cut (n,) the counts to each worker's free slots, the least asked skill first.

    Every skill has the same workers, so the arms form a table of skills by workers. Each round
    gives one more question to every worker that the algorithm asks for and that has a free slot.
    """
    # (skills, workers) the arm of this worker in this skill; a column is one worker.
    places = np.lexsort((arrays.workers, arrays.skill)).reshape(len(arrays.run.skills), -1)
    # (skills, workers) the counts requested in this step, and all that was asked before.
    requested, totals = counts[places], arrays.asked[places]
    # (workers,) free slots are shared by all skills, so any row of places will do.
    free, dealt = _free_slots(arrays)[places[0]], np.zeros_like(requested)
    while (eligible := (requested > dealt) & (free > 0)).any():
        # (workers,) of the skills that request the worker, the one asked least so far.
        skill = np.where(eligible, totals + dealt, np.iinfo(np.int64).max).argmin(axis=0)
        workers = np.flatnonzero(eligible.any(axis=0))
        dealt[skill[workers], workers] += 1
        free[workers] -= 1
    limited = np.zeros_like(counts)
    limited[places] = dealt
    return limited


def _questions_left(arrays: StepArrays) -> Counts:
    if not arrays.run.recorded_only:
        closed = arrays.limits.closed if arrays.limits else 0
        return arrays.decks - arrays.asked - closed
    waiting = RecordedAnswer.objects.askable().filter(candidate__run=arrays.run)
    remaining = np.zeros(arrays.ids.size, np.int64)
    for arm, count in waiting.values_list("candidate__arm").annotate(count=Count("id")).order_by():
        remaining[arm] = count
    return remaining


def _is_stuck(arrays: StepArrays, remaining: Counts) -> bool:
    """Tell if nothing is out and no worker that the algorithm needs has a question left.

    Only questions and budget matter here: full slots become free soon.
    """
    if arrays.run.recorded_only and not arrays.run.has_recorded:
        return False  # the answers are still to be imported
    # A call of an unaffordable model that is in flight may still bring an answer.
    pending = np.where(arrays.unaffordable, arrays.shown, arrays.pending)
    if pending[arrays.roster.arms].any() or arrays.selector is None:
        return False
    if _budget_left(arrays) <= 0:
        return True
    if arrays.doubtful.any():
        return not (arrays.doubtful & (remaining > 0)).any()
    room = remaining[arrays.roster.arms]
    return not arrays.selector.ask(room=room, rng=arrays.run.step_rng()).any()

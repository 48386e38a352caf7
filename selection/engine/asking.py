"""How many assignments each worker gets in a step, within slots, hands, budget and questions."""

import numpy as np
from django.db.models import Count

from selection import wakeups
from selection.answers import grace_period
from selection.models import RecordedAnswer, Run

from .arrays import Counts, Flags, StepArrays
from .withdrawal import take_back

FIRST = 3  # questions for each of those who come before there are enough to choose from


def ask_workers(arrays: StepArrays) -> None:
    """Decide how many assignments each worker gets, within slots, budget and questions.

    Those who are there are asked first, and nothing that is out with others who were never shown
    it keeps them from it. Others are called only for what is left.
    """
    if arrays.ending:
        return
    if arrays.run.recorded_only and arrays.out.any():  # the run was switched: nobody is asked now
        take_back(arrays, np.flatnonzero(arrays.out > 0))
    there = arrays.there
    unseen = np.where(there, 0, arrays.unseen)
    left = _questions_left(arrays)
    free = arrays.run.slots - int(arrays.out.sum() - unseen.sum())
    if there.any() and unseen.any() and _budget_left(arrays) < free:
        take_back(arrays, np.flatnonzero(unseen > 0))  # the money that is out with the absent
        unseen = np.where(there, 0, arrays.unseen)
    arrays.counts = _ask_among(arrays, there, left, free)
    free -= int(arrays.counts.sum() + unseen.sum())
    if not there.all() and free > 0:
        arrays.counts = arrays.counts + _ask_among(arrays, ~there & ~arrays.gone, left, free)
    if _is_everyone_waiting(arrays, free):
        arrays.counts = _past_the_silent(arrays, there, left, free)
    if arrays.rations:
        arrays.counts = arrays.rations.share(arrays.skill, arrays.counts)
    if not arrays.counts.any() and not arrays.run.enrolling and _is_stuck(arrays, left):
        spent = arrays.run.budget is not None and _budget_left(arrays) <= 0
        arrays.ending = Run.Ending.BUDGET if spent else Run.Ending.QUESTIONS


def _is_everyone_waiting(arrays: StepArrays, free: int) -> bool:
    """Whether more could be out and nobody gets anything, because of what is out with some."""
    if arrays.run.recorded_only or arrays.counts.any():
        return False
    return free > 0 and bool(arrays.out.any())


def _past_the_silent(arrays: StepArrays, there: Flags, left: Counts, free: int) -> Counts:
    """What the others get as if nothing were out with those who hold questions, once these were
    waited for long enough; until then a message comes when it will be."""
    if (seconds := grace_period.seconds_left(arrays.run)) > 0:
        wakeups.request_step_later(arrays.run.pk, seconds)
        return arrays.counts
    return _ask_among(arrays, there & (arrays.held == 0), left, free, alone=True)


def _ask_among(
    arrays: StepArrays, among: Flags, left: Counts, free: int, alone: bool = False
) -> Counts:
    """How many assignments each of these workers gets, beyond what the step gives already.

    What is out with others counts as made, unless these are asked as if they were alone.
    """
    if not among.any():
        return np.zeros_like(arrays.counts)
    room = np.where(among, np.minimum(left, _free_slots(arrays)), 0) - arrays.counts
    room, slots = np.maximum(room, 0), min(free, _budget_left(arrays))
    if arrays.selector is None:
        return _initial_questions(arrays, room, slots)
    roster, pending = arrays.roster, arrays.pending + arrays.counts
    counts = arrays.selector.ask(
        slots=slots,
        pending=(np.where(among, pending, 0) if alone else pending)[roster.arms],
        room=room[roster.arms],
        rng=arrays.run.step_rng(),
    )
    spread = roster.spread(counts, 0)
    if arrays.run.several and not arrays.run.recorded_only:
        return _limit_to_free_slots(arrays, spread)
    return spread


def _initial_questions(arrays: StepArrays, room: Counts, slots: int) -> Counts:
    """The first questions, while fewer have come than are wanted: any algorithm asks them."""
    if not arrays.run.selector_class.open_roster:
        return np.zeros_like(room)
    wanted = np.clip(FIRST - arrays.asked, 0, room)
    given: Counts = np.clip(slots - (np.cumsum(wanted) - wanted), 0, wanted)
    return given


def _budget_left(arrays: StepArrays) -> int:
    """Assignments that may still be handed out, with those to workers who are gone."""
    if arrays.run.budget is None:
        return int(np.iinfo(np.int64).max)
    return arrays.run.budget - arrays.spent - int(arrays.counts.sum())


def _free_slots(arrays: StepArrays) -> Counts:
    """How many more assignments each worker may hold. Recorded answers take no time to give.

    Hands are filled when they are empty. Were each answer followed by a question or by none, this
    would tell whether it was right, because an algorithm asks those again who may be among the best
    (docs/threat-model.md): so a worker learns only something about a whole hand.
    """
    if arrays.run.recorded_only:
        return np.full(arrays.ids.size, arrays.run.slots)
    return np.where(arrays.held > 0, 0, arrays.run.slots_per_worker)


def _limit_to_free_slots(arrays: StepArrays, counts: Counts) -> Counts:
    """What each worker's hands hold of what all their skills ask, the least asked skill first.

    Every skill has the same workers, so the arms form a table of skills by workers. Each round
    gives one more question to every worker who wants one and has a hand free.
    """
    # (skills, workers) the arm of this worker in this skill; a column is one worker.
    places = np.lexsort((arrays.workers, arrays.skill)).reshape(len(arrays.run.skills), -1)
    # (skills, workers) what the algorithm asks for now, and all that was asked before.
    wanted, asked = counts[places], arrays.asked[places]
    # (workers,) a worker's hands are the same in all skills, so any row of places tells them.
    free, given = _free_slots(arrays)[places[0]], np.zeros_like(wanted)
    while (takes := (wanted > given) & (free > 0)).any():
        # (workers,) of the skills that want the worker, the one in which least was asked.
        skill = np.where(takes, asked + given, np.iinfo(np.int64).max).argmin(axis=0)
        workers = np.flatnonzero(takes.any(axis=0))
        given[skill[workers], workers] += 1
        free[workers] -= 1
    kept = np.zeros_like(counts)
    kept[places] = given
    return kept


def _questions_left(arrays: StepArrays) -> Counts:
    if not arrays.run.recorded_only:
        closed = arrays.rations.closed if arrays.rations else 0
        return arrays.decks - arrays.asked - closed
    waiting = RecordedAnswer.objects.askable().filter(candidate__run=arrays.run)
    left = np.zeros(arrays.ids.size, np.int64)
    for arm, count in waiting.values_list("candidate__arm").annotate(count=Count("id")).order_by():
        left[arm] = count
    return left


def _is_stuck(arrays: StepArrays, left: Counts) -> bool:
    """Whether nothing is out and none of the workers that the algorithm needs has a question left.

    Only questions and money count here: full hands are empty again soon.
    """
    if arrays.run.recorded_only and not arrays.run.has_recorded:
        return False  # the answers are still to be imported
    if arrays.pending[arrays.roster.arms].any() or arrays.selector is None:
        return False
    if _budget_left(arrays) <= 0:
        return True
    room = left[arrays.roster.arms]
    return not arrays.selector.ask(room=room, rng=arrays.run.step_rng()).any()

"""The only writer of verdicts, steps and assignments: ``advance`` takes a run one step further."""

import numpy as np
from django.db import transaction
from django.db.models import Count
from django.utils import timezone
from numpy.typing import NDArray

from selection.models import Answer, Candidate, RecordedAnswer, Run, Step
from selection.setup import runs
from topk import BUDGET_SPENT, PROMISE_KEPT, Standing, Verdict, pack

from .arrays import Counts, StepArrays, load
from .dealing import deal

CHUNK = 2000
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


# -- tell, ask


def tell(arrays: StepArrays) -> None:
    arrays.selector.tell(arrays.ripe_arms, arrays.ripe_right)
    for reason in arrays.selector.stop():
        arrays.ending = ENDINGS[reason]


def ask(arrays: StepArrays) -> None:
    """Decide how many assignments each worker gets, within slots, budget and questions."""
    run, selector = arrays.run, arrays.selector
    arrays.counts = np.zeros(arrays.ids.size, np.int64)
    if arrays.ending:
        return
    left = _questions_left(arrays)
    arrays.counts = selector.ask(
        slots=run.slots - int(arrays.out.sum()),
        pending=arrays.pending,
        room=np.maximum(np.minimum(left, _hands(arrays)), 0),
        rng=run.step_rng(),
    )
    if run.several and not run.recorded_only:
        arrays.counts = _within_hands(arrays)
    if not arrays.counts.any() and _stuck(arrays, left):
        arrays.ending = Run.Ending.QUESTIONS


def _hands(arrays: StepArrays) -> Counts:
    """How many more assignments each worker may hold. Recorded answers take no time to give."""
    if arrays.run.recorded_only:
        return np.full(arrays.ids.size, arrays.run.slots)
    return arrays.run.slots_per_worker - arrays.held


def _within_hands(arrays: StepArrays) -> Counts:
    """What each worker's hands hold of what all their skills ask, the least asked skill first.

    Every skill has the same workers, so the arms form a table of skills by workers. Each round
    gives one more question to every worker who wants one and has a hand free.
    """
    # (skills, workers) the arm of this worker in this skill; a column is one worker.
    places = np.lexsort((arrays.workers, arrays.skill)).reshape(len(arrays.run.skills), -1)
    # (skills, workers) what the algorithm asks for now, and all that was asked before.
    wanted, asked = arrays.counts[places], arrays.asked[places]
    # (workers,) a worker's hands are the same in all skills, so any row of places tells them.
    free, given = _hands(arrays)[places[0]], np.zeros_like(wanted)
    while (takes := (wanted > given) & (free > 0)).any():
        # (workers,) of the skills that want the worker, the one in which least was asked.
        skill = np.where(takes, asked + given, np.iinfo(np.int64).max).argmin(axis=0)
        workers = np.flatnonzero(takes.any(axis=0))
        given[skill[workers], workers] += 1
        free[workers] -= 1
    counts = np.zeros_like(arrays.counts)
    counts[places] = given
    return counts


def _questions_left(arrays: StepArrays) -> Counts:
    if not arrays.run.recorded_only:
        return arrays.decks - arrays.asked
    waiting = RecordedAnswer.objects.filter(candidate__run=arrays.run).values_list("candidate__arm")
    left = np.zeros(arrays.ids.size, np.int64)
    for arm, count in waiting.annotate(count=Count("id")).order_by():
        left[arm] = count
    return left


def _stuck(arrays: StepArrays, left: Counts) -> bool:
    """Whether nothing is out and none of the workers that the algorithm needs has a question left.

    Only the questions count here: full hands are empty again soon.
    """
    if arrays.run.recorded_only and not arrays.run.has_recorded:
        return False  # the answers are still to be imported
    if arrays.pending.any():
        return False
    return not arrays.selector.ask(room=left, rng=arrays.run.step_rng()).any()


# -- save


def save(arrays: StepArrays) -> Step:
    run, selector = arrays.run, arrays.selector
    standing = selector.standing()
    run.steps += 1
    run.memory = pack(selector.state.memory)
    if arrays.ending:
        runs.end(run, arrays.ending)
    verdict = standing.verdict if run.finished else selector.state.verdict
    run.save(update_fields=["steps", "memory", "status", "ending", "ended"])
    _count_answers(arrays)
    _save_candidates(arrays, verdict, standing)
    deal(arrays)
    return Step.objects.create(
        run=run,
        number=run.steps,
        at=timezone.now(),
        applied=arrays.ripe.size,
        dealt=int(arrays.counts.sum()),
        accepted=int((verdict == Verdict.ACCEPTED).sum()),
        rejected=int((verdict == Verdict.REJECTED).sum()),
        gap=standing.gap,
        wanted=standing.wanted,
        closed=standing.closed,
    )


def _count_answers(arrays: StepArrays) -> None:
    for start in range(0, arrays.ripe.size, CHUNK):
        chunk = arrays.ripe[start : start + CHUNK].tolist()
        Answer.objects.filter(pk__in=chunk).update(applied_in=arrays.run.steps)


def _save_candidates(arrays: StepArrays, verdict: NDArray[np.int8], standing: Standing) -> None:
    """Write the rows that changed: one upsert, because thousands may."""
    state, run = arrays.selector.state, arrays.run
    decided, skills = verdict != arrays.verdict, arrays.skill.tolist()
    changed = decided | (state.pulls != arrays.pulls) | (arrays.counts > 0)
    reasons = {event.arm: event.why for event in arrays.selector.events}
    for arm in np.flatnonzero(decided).tolist():
        why = reasons.get(arm) or _closing_words(run, standing, arm, run.skills[skills[arm]].k)
        arrays.decided_in[arm] = (run.steps, why)
    unsettled: tuple[int | None, str] = (None, "")
    rows = [
        Candidate(
            id=arrays.ids[arm].item(),
            run=run,
            worker_id=arrays.workers[arm].item(),
            skill=skills[arm],
            arm=arm,
            asked=(arrays.asked[arm] + arrays.counts[arm]).item(),
            pulls=state.pulls[arm].item(),
            rewards=state.rewards[arm].item(),
            verdict=int(verdict[arm]),
            decided_in=arrays.decided_in.get(arm, unsettled)[0],
            decided_why=arrays.decided_in.get(arm, unsettled)[1],
        )
        for arm in np.flatnonzero(changed).tolist()
    ]
    Candidate.objects.bulk_create(
        rows,
        CHUNK,
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["asked", "pulls", "rewards", "verdict", "decided_in", "decided_why"],
    )


def _closing_words(run: Run, standing: Standing, arm: int, k: int) -> str:
    place = "among" if standing.verdict[arm] == Verdict.ACCEPTED else "not among"
    within = " that keep to the quotas" if run.quotas else ""
    if run.fixed_budget:
        when = "the budget was spent"
    elif standing.wanted:
        when = f"the gap fell to {standing.gap:.3f}, within the {standing.wanted:g} wanted"
    else:
        when = "the gap was closed"
    return f"mean {standing.mean[arm]:.3f}, {place} the best {k}{within} when {when}"

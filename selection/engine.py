"""The only writer of verdicts, steps and assignments: ``advance`` takes a run one step further."""

import numpy as np
from django.db import transaction
from django.db.models import Count
from django.utils import timezone
from numpy.typing import NDArray

from . import runs
from .bandit import BUDGET_SPENT, PROMISE_KEPT, Standing, Verdict
from .bandit.state import pack
from .board import Board, Counts, load
from .dealing import deal
from .models import Answer, Candidate, Recorded, Run, Step

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
        board = load(run)
        tell(board)
        ask(board)
        if not board.changed:
            return None
        return save(board)


# -- tell, ask


def tell(board: Board) -> None:
    board.selector.tell(board.ripe_arms, board.ripe_right)
    for reason in board.selector.stop():
        board.ending = ENDINGS[reason]


def ask(board: Board) -> None:
    """Decide how many assignments each worker gets, within slots, budget and questions."""
    run, selector = board.run, board.selector
    board.counts = np.zeros(board.ids.size, np.int64)
    if board.ending:
        return
    left = _questions_left(board)
    board.counts = selector.ask(
        slots=run.slots - int(board.out.sum()),
        pending=board.pending,
        room=np.maximum(np.minimum(left, _hands(board)), 0),
        rng=run.step_rng(),
    )
    if run.several and not run.recorded_only:
        board.counts = _within_hands(board)
    if not board.counts.any() and _stuck(board, left):
        board.ending = Run.Ending.QUESTIONS


def _hands(board: Board) -> Counts:
    """How many more assignments each worker may hold. Recorded answers take no time to give."""
    if board.run.recorded_only:
        return np.full(board.ids.size, board.run.slots)
    return board.run.slots_per_worker - board.held


def _within_hands(board: Board) -> Counts:
    """What each worker's hands hold of what all their skills ask, the least asked skill first."""
    places = np.lexsort((board.workers, board.skill)).reshape(len(board.run.skills), -1)
    wanted, asked = board.counts[places], board.asked[places]
    free, given = _hands(board)[places[0]], np.zeros_like(wanted)
    while (takes := (wanted > given) & (free > 0)).any():
        skill = np.where(takes, asked + given, np.iinfo(np.int64).max).argmin(axis=0)
        workers = np.flatnonzero(takes.any(axis=0))
        given[skill[workers], workers] += 1
        free[workers] -= 1
    counts = np.zeros_like(board.counts)
    counts[places] = given
    return counts


def _questions_left(board: Board) -> Counts:
    if not board.run.recorded_only:
        return board.decks - board.asked
    waiting = Recorded.objects.filter(candidate__run=board.run).values_list("candidate__arm")
    left = np.zeros(board.ids.size, np.int64)
    for arm, count in waiting.annotate(count=Count("id")).order_by():
        left[arm] = count
    return left


def _stuck(board: Board, left: Counts) -> bool:
    """Whether nothing is out and none of the workers that the algorithm needs has a question left.

    Only the questions count here: full hands are empty again soon.
    """
    if board.run.recorded_only and not board.run.has_recorded:
        return False  # the answers are still to be imported
    if board.pending.any():
        return False
    return not board.selector.ask(room=left, rng=board.run.step_rng()).any()


# -- save


def save(board: Board) -> Step:
    run, selector = board.run, board.selector
    standing = selector.standing()
    run.steps += 1
    run.memory = pack(selector.state.memory)
    if board.ending:
        runs.end(run, board.ending)
    verdict = standing.verdict if run.finished else selector.state.verdict
    run.save(update_fields=["steps", "memory", "status", "ending", "ended"])
    _count_answers(board)
    _save_candidates(board, verdict, standing)
    deal(board)
    return Step.objects.create(
        run=run,
        number=run.steps,
        at=timezone.now(),
        applied=board.ripe.size,
        dealt=int(board.counts.sum()),
        accepted=int((verdict == Verdict.ACCEPTED).sum()),
        rejected=int((verdict == Verdict.REJECTED).sum()),
        gap=standing.gap,
        wanted=standing.wanted,
        closed=standing.closed,
    )


def _count_answers(board: Board) -> None:
    for start in range(0, board.ripe.size, CHUNK):
        chunk = board.ripe[start : start + CHUNK].tolist()
        Answer.objects.filter(pk__in=chunk).update(applied_in=board.run.steps)


def _save_candidates(board: Board, verdict: NDArray[np.int8], standing: Standing) -> None:
    """Write the rows that changed: one upsert, because thousands may."""
    state, run = board.selector.state, board.run
    decided, skills = verdict != board.verdict, board.skill.tolist()
    changed = decided | (state.pulls != board.pulls) | (board.counts > 0)
    reasons = {event.arm: event.why for event in board.selector.events}
    for arm in np.flatnonzero(decided).tolist():
        why = reasons.get(arm) or _closing_words(run, standing, arm, run.skills[skills[arm]].k)
        board.decided_in[arm] = (run.steps, why)
    unsettled: tuple[int | None, str] = (None, "")
    rows = [
        Candidate(
            id=board.ids[arm].item(),
            run=run,
            worker_id=board.workers[arm].item(),
            skill=skills[arm],
            arm=arm,
            asked=(board.asked[arm] + board.counts[arm]).item(),
            pulls=state.pulls[arm].item(),
            rewards=state.rewards[arm].item(),
            verdict=int(verdict[arm]),
            decided_in=board.decided_in.get(arm, unsettled)[0],
            decided_why=board.decided_in.get(arm, unsettled)[1],
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

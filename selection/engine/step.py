"""The only writer of verdicts, steps and assignments: ``advance`` takes a run one step further."""

from datetime import UTC, datetime

import numpy as np
from django.db import transaction
from django.db.models import Count
from django.utils import timezone
from numpy.typing import NDArray

from selection.models import Answer, Candidate, RecordedAnswer, Run, Step
from selection.setup import runs
from selection.setup.proofs import remember
from selection.setup.rejudging import passed_over, tell_in_turn
from topk import BUDGET_SPENT, PROMISE_KEPT, Standing, Verdict, pack

from .absence import take_back
from .arrays import Counts, Flags, StepArrays, load
from .dealing import deal

CHUNK = 2000
ENDINGS = {PROMISE_KEPT: Run.Ending.PROMISE, BUDGET_SPENT: Run.Ending.BUDGET}
FIRST = 3  # questions for each of those who come before there are enough to choose from


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


# -- tell


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
        arrays.counted = told | passed_over(answers.arms, silent, ready & ~told)
        if not arrays.run.enrolling:
            for reason in arrays.selector.stop():
                arrays.ending = ENDINGS[reason]
    if not (arrays.run.enrolling or arrays.roster.enough(arrays.run)):
        arrays.ending = Run.Ending.ROSTER


# -- ask


def ask(arrays: StepArrays) -> None:
    """Decide how many assignments each worker gets, within slots, budget and questions.

    Those who are there are asked first, and nothing that is out with others who were never shown
    it keeps them from it. Others are called only for what is left.
    """
    if arrays.ending:
        return
    there = arrays.there
    unseen = np.where(there, 0, arrays.unseen)
    left = _questions_left(arrays)
    free = arrays.run.slots - int(arrays.out.sum() - unseen.sum())
    arrays.counts = _asked(arrays, there, left, free)
    free -= int(arrays.counts.sum() + unseen.sum())
    if not there.all() and free > 0:
        arrays.counts = arrays.counts + _asked(arrays, ~there & ~arrays.gone, left, free)
    if not arrays.counts.any() and not arrays.run.enrolling and _stuck(arrays, left):
        spent = arrays.run.budget is not None and _budget_left(arrays) <= 0
        arrays.ending = Run.Ending.BUDGET if spent else Run.Ending.QUESTIONS


def _asked(arrays: StepArrays, among: Flags, left: Counts, free: int) -> Counts:
    """How many assignments each of these workers gets, beyond what the step gives already."""
    if not among.any():
        return np.zeros_like(arrays.counts)
    room = np.where(among, np.minimum(left, _hands(arrays)), 0) - arrays.counts
    room, slots = np.maximum(room, 0), min(free, _budget_left(arrays))
    if arrays.selector is None:
        return _introduced(arrays, room, slots)
    roster = arrays.roster
    counts = arrays.selector.ask(
        slots=slots,
        pending=(arrays.pending + arrays.counts)[roster.arms],
        room=room[roster.arms],
        rng=arrays.run.step_rng(),
    )
    spread = roster.spread(counts, 0)
    if arrays.run.several and not arrays.run.recorded_only:
        return _within_hands(arrays, spread)
    return spread


def _introduced(arrays: StepArrays, room: Counts, slots: int) -> Counts:
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


def _hands(arrays: StepArrays) -> Counts:
    """How many more assignments each worker may hold. Recorded answers take no time to give."""
    if arrays.run.recorded_only:
        return np.full(arrays.ids.size, arrays.run.slots)
    return arrays.run.slots_per_worker - arrays.held


def _within_hands(arrays: StepArrays, counts: Counts) -> Counts:
    """What each worker's hands hold of what all their skills ask, the least asked skill first.

    Every skill has the same workers, so the arms form a table of skills by workers. Each round
    gives one more question to every worker who wants one and has a hand free.
    """
    # (skills, workers) the arm of this worker in this skill; a column is one worker.
    places = np.lexsort((arrays.workers, arrays.skill)).reshape(len(arrays.run.skills), -1)
    # (skills, workers) what the algorithm asks for now, and all that was asked before.
    wanted, asked = counts[places], arrays.asked[places]
    # (workers,) a worker's hands are the same in all skills, so any row of places tells them.
    free, given = _hands(arrays)[places[0]], np.zeros_like(wanted)
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
        return arrays.decks - arrays.asked
    waiting = RecordedAnswer.objects.filter(candidate__run=arrays.run)
    left = np.zeros(arrays.ids.size, np.int64)
    for arm, count in waiting.values_list("candidate__arm").annotate(count=Count("id")).order_by():
        left[arm] = count
    return left


def _stuck(arrays: StepArrays, left: Counts) -> bool:
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


# -- save


def save(arrays: StepArrays) -> Step:
    run, selector, roster = arrays.run, arrays.selector, arrays.roster
    run.steps += 1
    standing = None
    if selector is not None:
        standing = selector.standing()
        run.memory = pack(selector.state.memory)
        remember(run, selector, standing, roster)
    if arrays.ending:
        runs.end(run, arrays.ending)
    verdict = _verdicts(arrays, standing)
    run.save(update_fields=["steps", "memory", "proof", "status", "ending", "ended"])
    _count_answers(arrays)
    take_back(arrays)
    _save_candidates(arrays, verdict, standing)
    deal(arrays)
    return Step.objects.create(
        run=run,
        number=run.steps,
        at=timezone.now(),
        applied=int(arrays.counted.sum()),
        dealt=int(arrays.counts.clip(0).sum()),
        accepted=int((verdict == Verdict.ACCEPTED).sum()),
        rejected=int((verdict == Verdict.REJECTED).sum()),
        gap=standing.gap if standing else 1.0,
        wanted=standing.wanted if standing else 0.0,
        closed=standing.closed if standing else 0.0,
    )


def _verdicts(arrays: StepArrays, standing: Standing | None) -> NDArray[np.int8]:
    """(n,) by the run's arms; who is gone keeps the verdict that was given, mostly none."""
    verdict = arrays.verdict.astype(np.int8)
    if arrays.ending == Run.Ending.ROSTER and not arrays.run.several:
        verdict[arrays.roster.arms] = Verdict.ACCEPTED
    elif arrays.selector is not None and standing is not None:
        final = arrays.run.finished
        own = standing.verdict if final else arrays.selector.state.verdict
        verdict[arrays.roster.arms] = own
    return verdict


def _count_answers(arrays: StepArrays) -> None:
    ids = arrays.answers.ids[arrays.counted]
    for start in range(0, ids.size, CHUNK):
        chunk = ids[start : start + CHUNK].tolist()
        Answer.objects.filter(pk__in=chunk).update(applied_in=arrays.run.steps)


def _save_candidates(
    arrays: StepArrays, verdict: NDArray[np.int8], standing: Standing | None
) -> None:
    """Write the rows that changed: one upsert, because thousands may."""
    run = arrays.run
    decided, skills = verdict != arrays.verdict, arrays.skill.tolist()
    pulls, void = arrays.pulls + arrays.new_pulls, arrays.void + arrays.new_void
    rewards, asked = arrays.rewards + arrays.new_rewards, arrays.asked + arrays.counts
    changed = decided | (arrays.counts != 0) | (pulls + void != arrays.pulls + arrays.void)
    _say_why(arrays, verdict, standing, np.flatnonzero(decided).tolist())
    unsettled: tuple[int | None, str] = (None, "")
    rows = [
        Candidate(
            id=arrays.ids[arm].item(),
            run=run,
            worker_id=arrays.workers[arm].item(),
            skill=skills[arm],
            arm=arm,
            asked=asked[arm].item(),
            pulls=pulls[arm].item(),
            void=void[arm].item(),
            rewards=rewards[arm].item(),
            seen=moment(arrays.seen[arm].item()),
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
        update_fields=[
            "asked",
            "pulls",
            "void",
            "rewards",
            "seen",
            "verdict",
            "decided_in",
            "decided_why",
        ],
    )


def _say_why(
    arrays: StepArrays,
    verdict: NDArray[np.int8],
    standing: Standing | None,
    decided: list[int],
) -> None:
    """The step and the reason of each verdict of this step."""
    run, reasons = arrays.run, _reasons(arrays)
    for arm in decided:
        why = reasons.get(arm)
        if why is None and standing is None:
            why = "no more workers were left than are wanted: there was nothing to choose"
        elif why is None and standing is not None:
            place, k = arrays.roster.places(np.array([arm]))[0], run.skills[arrays.skill[arm]].k
            why = _closing_words(run, standing, int(place), k)
        arrays.decided_in[arm] = (run.steps, why or "")


def _reasons(arrays: StepArrays) -> dict[int, str]:
    """What the algorithm says of those it decided in this step, by the run's arms."""
    if arrays.selector is None:
        return {}
    arms = arrays.roster.arms
    return {int(arms[event.arm]): event.why for event in arrays.selector.events}


def moment(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if np.isfinite(seconds) else None


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

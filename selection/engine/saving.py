"""Writing a step down: what was counted, how the workers stand, what goes out."""

from datetime import UTC, datetime

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from selection.models import Answer, Candidate, Run, Step
from selection.setup import runs
from topk import Standing, Verdict, pack

from .absence import in_the_way, take_back
from .arrays import StepArrays
from .dealing import deal
from .proofs import remember

CHUNK = 2000


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
    take_back(arrays, in_the_way(arrays))
    _save_candidates(arrays, verdict, standing)
    deal(arrays)
    return Step.objects.create(
        run=run,
        number=run.steps,
        at=timezone.now(),
        applied=int(arrays.counted.sum()),
        dealt=int(arrays.counts.sum()),
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
    changed = (
        decided | (arrays.counts + arrays.taken > 0) | (pulls + void != arrays.pulls + arrays.void)
    )
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

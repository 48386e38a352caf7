"""Save a step: counted answers, verdicts and new assignments."""

from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from selection import audit, webhooks
from selection.answers.presence import PRESENCE_INTERVAL
from selection.db import bulk
from selection.history.notifications import find_messages
from selection.models import Answer, Candidate, Run, Step, pass_marks
from topk import Standing, Verdict, compact_memory

from . import ending, notifications
from .arrays import StepArrays
from .best_guarantee import remember_guarantee
from .mark_doubts import tallies
from .question_choice import deal_assignments
from .withdrawal import blocked_arms, take_back


def save_step(arrays: StepArrays) -> Step:
    run, selector, roster = arrays.run, arrays.selector, arrays.roster
    before = run.best_guarantee
    run.steps += 1
    standing = None
    if selector is not None:
        standing = selector.standing()
        run.memory = compact_memory(selector.state.memory)
        remember_guarantee(run, selector, standing, roster)
    if arrays.ending:
        ending.end_run(run, arrays.ending)
        after = {"status": run.status, "ending": run.ending, "step": run.steps}
        audit.record_entry("ended", run, who="engine", before={"status": "running"}, after=after)
    verdict, known = _step_verdicts(arrays, standing), _find_known(arrays)
    fields = ["steps", "memory", "status", "ending", "ended"]
    run.save(update_fields=fields if run.best_guarantee is before else [*fields, "best_guarantee"])
    _count_answers(arrays)
    take_back(arrays, blocked_arms(arrays))
    _save_candidates(arrays, verdict, standing, known)
    _note_finds(arrays, known)
    deal_assignments(arrays)
    notifications.notify_step(arrays, verdict, known)
    arrays.candidates.keep()
    tested = arrays.pulls + arrays.new_pulls > 0
    return Step.objects.create(
        run=run,
        number=run.steps,
        at=arrays.now,
        applied=int(arrays.counted.sum()),
        dealt=int(arrays.counts.sum()),
        accepted=int((tested & (verdict == Verdict.ACCEPTED)).sum()),
        rejected=int((tested & (verdict == Verdict.REJECTED)).sum()),
        gap=standing.gap if standing else 1.0,
        wanted=standing.wanted if standing else 0.0,
        closed=standing.closed if standing else 0.0,
    )


def _step_verdicts(arrays: StepArrays, standing: Standing | None) -> NDArray[np.int8]:
    """Collect (n,) the verdicts by the run's arms; workers who left keep theirs."""
    verdict = arrays.verdict.astype(np.int8)
    arms, final = arrays.roster.arms, arrays.run.finished
    if arrays.ending == Run.Ending.ROSTER and not arrays.run.several:
        verdict[arms] = Verdict.ACCEPTED
        final = True
    elif arrays.selector is not None and standing is not None:
        verdict[arms] = standing.verdict if final else arrays.selector.state.verdict
    if final and pass_marks.has_mark(arrays.run):
        verdict[arms] = pass_marks.reject_short(verdict, _reaching(arrays))[arms]
    return verdict


def _reaching(arrays: StepArrays) -> NDArray[np.bool_]:
    return pass_marks.is_reaching(arrays.run, *tallies(arrays), arrays.skill)


def _count_answers(arrays: StepArrays) -> None:
    ids = arrays.answers.ids[arrays.counted].tolist()
    bulk.update_rows(Answer, ids, {"applied_in": [arrays.run.steps] * len(ids)})


def _save_candidates(
    arrays: StepArrays,
    verdict: NDArray[np.int8],
    standing: Standing | None,
    known: NDArray[np.bool_],
) -> None:
    """Write the changed rows, which may be thousands.

    Workers who answered were seen, which is written unless it was noted within a minute or so.
    """
    closed = arrays.new_pulls + arrays.new_void
    late = arrays.seen > arrays.noted + PRESENCE_INTERVAL.total_seconds()
    arms = np.flatnonzero((arrays.counts + arrays.withdrawn + closed > 0) | late)
    moments = zip(late[arms].tolist(), arrays.seen[arms].tolist(), strict=True)
    bulk.update_rows(
        Candidate,
        arrays.ids[arms].tolist(),
        {
            "asked": (arrays.asked + arrays.counts)[arms].tolist(),
            "pulls": (arrays.pulls + arrays.new_pulls)[arms].tolist(),
            "void": (arrays.void + arrays.new_void)[arms].tolist(),
            "rewards": (arrays.rewards + arrays.new_rewards)[arms].tolist(),
            "seen": [datetime.fromtimestamp(at, UTC) if new else None for new, at in moments],
        },
        kept=("seen",),
    )
    kept = known & (verdict == Verdict.ACCEPTED)
    bulk.update_rows(Candidate, arrays.ids[kept].tolist(), {"verdict": verdict[kept].tolist()})
    decided = np.flatnonzero((verdict != arrays.verdict) & ~kept)
    bulk.update_rows(
        Candidate,
        arrays.ids[decided].tolist(),
        {
            "verdict": verdict[decided].tolist(),
            "decided_in": [arrays.run.steps] * decided.size,
            "decided_why": _verdict_reasons(arrays, standing, decided.tolist()),
        },
    )


def _verdict_reasons(
    arrays: StepArrays, standing: Standing | None, decided: list[int]
) -> list[str]:
    run, reasons = arrays.run, _algorithm_reasons(arrays)
    short = _short_of_mark(arrays, standing)
    texts = []
    for arm in decided:
        reason = reasons.get(arm)
        if arm in short:
            reason = pass_marks.describe_short(run)
        elif reason is None and standing is None:
            reason = "no more workers were left than are wanted: there was nothing to choose"
        elif reason is None and standing is not None:
            place, k = arrays.roster.places(np.array([arm]))[0], run.skills[arrays.skill[arm]].k
            reason = _describe_closing(run, standing, int(place), k)
        texts.append(reason or "")
    return texts


def _short_of_mark(arrays: StepArrays, standing: Standing | None) -> set[int]:
    """Find the run's arms that its rule selects at the end, and its pass mark does not."""
    if not (arrays.ending and pass_marks.has_mark(arrays.run)):
        return set()
    arms = arrays.roster.arms
    if standing is not None:
        arms = arms[standing.verdict == Verdict.ACCEPTED]
    return set(arms[~_reaching(arrays)[arms]].tolist())


def _algorithm_reasons(arrays: StepArrays) -> dict[int, str]:
    """Ask the algorithm's reasons for verdicts of this step, by the run's arms."""
    if arrays.selector is None:
        return {}
    arms = arrays.roster.arms
    return {int(arms[event.arm]): event.why for event in arrays.selector.events}


def _describe_closing(run: Run, standing: Standing, arm: int, k: int) -> str:
    if run.selector_class.takes_mark:
        return _describe_mark(run, standing, arm)
    place = "among" if standing.verdict[arm] == Verdict.ACCEPTED else "not among"
    scope = " that keep to the quotas" if run.quotas else ""
    if run.several and run.one_kind_each:
        scope = " of this kind of task, with each worker selected for one,"
    if run.fixed_budget:
        ending = "the budget was spent"
    elif standing.wanted:
        short = np.ceil(standing.gap * 1000) / 1000  # upwards, as wherever it is guaranteed
        enough = f"within the {standing.wanted:g} wanted"
        ending = f"they were at most {short:.3f} short of the best, {enough}"
    else:
        ending = "the bounds left no other worker"
    return f"mean {standing.mean[arm]:.3f}, {place} the best {k}{scope} when {ending}"


def _describe_mark(run: Run, standing: Standing, arm: int) -> str:
    mean, mark = standing.mean[arm], pass_marks.format_mark(run)
    if standing.verdict[arm] == Verdict.ACCEPTED:
        return pass_marks.describe_find(run, mean)
    if standing.settled[arm] == Verdict.ACCEPTED:
        return f"mean {mean:.3f}, beyond the {run.k} wanted"
    return f"mean {mean:.3f}, not among those shown to reach the pass mark of {mark}"


def _find_known(arrays: StepArrays) -> NDArray[np.bool_]:
    """Find (n,) flags of the arms that earlier steps found, and that have no verdict."""
    if not arrays.run.selector_class.takes_mark:
        return np.zeros(arrays.ids.size, bool)
    rows = arrays.run.candidates.filter(decided_in__isnull=False, verdict=0)
    return np.isin(arrays.ids, list(rows.values_list("pk", flat=True)))


def _note_finds(arrays: StepArrays, known: NDArray[np.bool_]) -> None:
    """Note the workers that a rule for a pass mark finds in this step, and tell the webhooks.

    Their verdicts come with the end: until then they have ``decided_in`` and ``decided_why`` alone.
    """
    run, selector = arrays.run, arrays.selector
    if run.finished or selector is None or not run.selector_class.takes_mark:
        return
    places = selector.selection()
    arms = arrays.roster.arms[places]
    new = ~known[arms] & (arrays.verdict[arms] == Verdict.UNDECIDED)
    means = dict(zip(arrays.ids[arms[new]].tolist(), selector.means[places[new]], strict=True))
    rows = list(run.candidates.filter(pk__in=means).select_related("worker").order_by("arm"))
    for row in rows:
        row.decided_in, row.decided_why = run.steps, pass_marks.describe_find(run, means[row.pk])
    Candidate.objects.bulk_update(rows, ["decided_in", "decided_why"])
    if rows:
        webhooks.write_messages(run, lambda kinds: find_messages(run, rows))

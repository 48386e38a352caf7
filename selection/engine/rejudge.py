"""Judge a run anew from its stored answers, after some of them were graded differently."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, Q, QuerySet
from numpy.typing import NDArray

from selection import db_clock, webhooks
from selection.history import notifications
from selection.models import Answer, Candidate, Run, Step, pass_marks
from selection.models.roster import Counts, Roster
from topk import BUDGET_SPENT, GUARANTEE_KEPT, Selector, Standing, State, Verdict, pack_memory
from topk.feed import choose_answers, tell_in_turn

from .best_guarantee import remember_guarantee
from .packed import forget_columns

CHUNK = 2000
MARKED = ("rewards", "pulls", "skill")  # columns that a mark is judged by
Ending = Run.Ending

GUARANTEE_FORGOTTEN = (
    "The guarantee achieved before rested on the old grades and is reset; a provisional verdict "
    "may change."
)


@dataclass(frozen=True)
class Tally:
    worker: str
    right: int
    answers: int

    def __str__(self) -> str:
        return f"{self.right}/{self.answers}"


def read_tallies(rows: Iterable[Candidate]) -> dict[int, Tally]:
    return {row.pk: Tally(row.worker.key, round(row.rewards), row.pulls) for row in rows}


def rejudge(run: Run) -> str:
    """Count a locked run's answers again, and let its algorithm judge by them.

    In a running run, algorithms that decide at their end only decide no worker; those that work in
    rounds are replayed. Return a sentence on the guarantee.
    """
    run.steps += 1
    _recount_tallies(run)
    rows = list(run.candidates.order_by("arm"))
    roster, selector = _replay_answers(run, rows)
    run.best_guarantee = {}
    standing = selector.standing() if selector else None
    if selector is not None and standing is not None:
        run.memory = pack_memory(selector.state.memory) if not selector.open_roster else {}
        remember_guarantee(run, selector, standing, roster)
    ending = _reset_ending(run, selector) if run.status == Run.Status.ENDED else GUARANTEE_FORGOTTEN
    changed = _decide_verdicts(run, rows, roster, selector, standing)
    run.save(update_fields=["steps", "memory", "best_guarantee", "ending", "regraded"])
    _write_step(run, rows, standing)
    forget_columns(run)
    return f"{ending} {changed}".strip()


# -- counting


def _recount_tallies(run: Run) -> None:
    """Recompute the tallies of all candidates from the counted answers."""
    answers = _list_counted_answers(run).order_by()
    rows = answers.values_list("assignment__candidate").annotate(
        told=Count("pk", filter=Q(void=False)),
        silent=Count("pk", filter=Q(void=True)),
        won=Count("pk", filter=Q(void=False, right=True)),
    )
    _store_tallies(run, {pk: numbers for pk, *numbers in rows})


def _list_counted_answers(run: Run) -> QuerySet[Answer]:
    """Reach the counted answers by way of candidates: no index leads to them from a run."""
    return Answer.objects.filter(assignment__candidate__run=run).exclude(applied_in=None)


def _store_tallies(run: Run, tallies: dict[int, list[int]]) -> None:
    changed = []
    for row in run.candidates.filter(Q(pulls__gt=0) | Q(void__gt=0)):
        numbers = tallies.get(row.pk, [0, 0, 0])
        if [row.pulls, row.void, row.rewards] != numbers:
            row.pulls, row.void, row.rewards = numbers[0], numbers[1], float(numbers[2])
            changed.append(row)
    Candidate.objects.bulk_update(changed, ["pulls", "void", "rewards"], 500)


def _replay_answers(run: Run, rows: list[Candidate]) -> tuple[Roster, Selector | None]:
    """Show the algorithm these answers only; None with too few workers."""
    skill = np.array([row.skill for row in rows], np.int64)
    leavers = np.array([bool(row.gone) for row in rows], bool)
    pulls: Counts = np.array([row.pulls for row in rows], np.int64)
    roster = Roster.build(run, skill, leavers, pulls)
    if not roster.enough(run):
        return roster, None
    if not run.selector_class.open_roster:
        selector = roster.selector(run, State.fresh(roster.arms.size))
        _tell_answers(run, rows, roster, selector)
        return roster, selector
    rewards = np.array([row.rewards for row in rows], float)
    undecided = np.zeros(pulls.size, np.int8)
    asks = np.array([row.asked - row.void for row in rows], np.int64)
    state = roster.state(pulls, rewards, undecided, {}, asks - pulls)
    return roster, roster.selector(run, state)


def _tell_answers(run: Run, rows: list[Candidate], roster: Roster, selector: Selector) -> None:
    """Tell the stored answers in order of position, as the algorithm's rounds take them.

    Answers that cannot be told yet become unapplied, and wait for their round.
    """
    stored = _list_counted_answers(run)
    table = np.array(
        list(
            stored.order_by("assignment__candidate__arm", "assignment__position").values_list(
                "pk", "assignment__candidate__arm", "right", "void"
            )
        ),
        np.int64,
    ).reshape(-1, 4)
    ids, arms, grades, void = table.T
    places = roster.places(arms)
    ready, rewards = choose_answers(run.selector_class, places >= 0, void == 1, grades)
    takes = tell_in_turn(selector, ready, arms, places, rewards)
    applied = takes | is_passed_over(arms, ~ready, ready & ~takes)
    _refuse_too_long(ids[~applied])
    sums = [applied & (void == 0), applied & (void == 1), applied & (void == 0) & (grades == 1)]
    columns = [np.bincount(arms[mask], minlength=len(rows)).tolist() for mask in sums]
    numbers = {row.pk: [column[row.arm] for column in columns] for row in rows}
    _store_tallies(run, numbers)
    for row in rows:
        row.pulls, row.void = numbers[row.pk][0], numbers[row.pk][1]
        row.rewards = float(numbers[row.pk][2])


def is_passed_over(
    arms: Counts, silent: NDArray[np.bool_], waits: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Flag (a,) the silent answers: they tell the algorithm nothing, and none waits before.

    The counted answers of an arm are a prefix of its positions, so a void answer after one that
    waits for its round waits as well. All are in order of arm and position.
    """
    first = np.full(int(arms.max(initial=-1)) + 1, arms.size)
    np.minimum.at(first, arms[waits], np.flatnonzero(waits))
    return silent & (np.arange(arms.size) < first[arms])


def _refuse_too_long(answers: Counts) -> None:
    for start in range(0, answers.size, CHUNK):
        chunk = answers[start : start + CHUNK].tolist()
        Answer.objects.filter(pk__in=chunk).update(applied_in=None)


# -- judging


def _reset_ending(run: Run, selector: Selector | None) -> str:
    """Set the ending of an ended run by these answers; return a sentence on it."""
    run.regraded = db_clock.database_now()
    if selector is None or run.ending == Ending.ROSTER:
        return "The run had ended; its tallies are corrected."
    finished, reasons = run.finished, selector.stop()
    if run.fixed_budget:
        if finished and BUDGET_SPENT not in reasons:
            run.ending = Ending.REGRADED
            return "After the correction, the algorithm’s plan is no longer complete."
        return "The run had ended; its selection is recalculated."
    if GUARANTEE_KEPT in reasons:
        run.ending = Ending.GUARANTEE
        return (
            "The guarantee is still achieved."
            if finished
            else "After the correction the guarantee is achieved."
        )
    if finished:
        run.ending = Ending.REGRADED
        return "The guarantee of the ended run is no longer achieved."
    return "The run had ended before its target; its weaker guarantee is corrected."


def _decide_verdicts(
    run: Run,
    rows: list[Candidate],
    roster: Roster,
    selector: Selector | None,
    standing: Standing | None,
) -> str:
    """Set the verdicts of the roster; return a sentence on those that changed."""
    if selector is None or standing is None or run.ending == Ending.ROSTER:
        return ""
    by_roster = standing.verdict if run.finished else selector.state.verdict
    verdicts = roster.spread(by_roster.astype(np.int8), 0)
    if run.finished and pass_marks.has_mark(run):
        columns = [np.array([getattr(row, name) for row in rows]) for name in MARKED]
        verdicts = pass_marks.reject_short(verdicts, pass_marks.is_reaching(run, *columns))
    reasons = {int(roster.arms[event.arm]): event.why for event in selector.events}
    changed = []
    for row in (rows[arm] for arm in roster.arms.tolist()):
        new = int(verdicts[row.arm])
        if new != row.verdict:
            changed.append(row)
            row.verdict, row.decided_in = new, run.steps if new else None
            row.decided_why = reasons.get(row.arm, "by the corrected gold answers") if new else ""
    Candidate.objects.bulk_update(changed, ["verdict", "decided_in", "decided_why"], 500)
    if changed:
        webhooks.write_messages(run, lambda kinds: notifications.verdict_messages(run, changed))
    if not changed:
        return ""
    return f"Verdicts that changed: {len(changed)}."


def _write_step(run: Run, rows: list[Candidate], standing: Standing | None) -> None:
    """Store a step, so that charts and the current guarantee use the corrected answers."""
    verdicts = [row.verdict for row in rows if row.pulls]
    Step.objects.create(
        run=run,
        number=run.steps,
        at=db_clock.database_now(),
        applied=0,
        dealt=0,
        accepted=verdicts.count(Verdict.ACCEPTED),
        rejected=verdicts.count(Verdict.REJECTED),
        gap=standing.gap if standing else 1.0,
        wanted=standing.wanted if standing else 0.0,
        closed=standing.closed if standing else 0.0,
    )

"""Whether a run's figures are those of its answers; and counting anew where they are not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from selection import wakeups
from selection.engine import late_regrades
from selection.engine.rejudge import rejudge
from selection.errors import Conflict
from selection.history import events
from selection.models import Answer, Assignment, Candidate, RecordedAnswer, Run

SHOWN = 5  # of the workers that a sentence names
COUNTED = Q(assignments__answer__applied_in__isnull=False)
VOID = Q(assignments__answer__void=True)


@dataclass(frozen=True)
class ConsistencyFault:
    """law    what does not hold, for programs
    words  where, for people
    mends  whether counting anew mends it
    """

    law: str
    words: str
    mends: bool = False


def find_faults(run: Run) -> list[ConsistencyFault]:
    """All that does not hold of a run, from its assignments and answers; empty for every sound run.

    Whoever looks at a run that goes on holds it (``look``), or a step comes in between. Raises
    Conflict for a run that has not begun.
    """
    if run.status == Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has not begun: there is nothing to count.")
    rows = _read_rows(run)
    handed_out = [*_check_order(rows), *_check_questions(run)]
    return [
        *_check_tallies(rows),
        *handed_out,
        *_check_answers(run),
        *_check_steps(run, rows),
        *_check_end(run),
    ]


@transaction.atomic
def check_run(run: Run) -> list[ConsistencyFault]:
    """``faults`` of a run that others may be at work on: steps wait meanwhile, answers do not."""
    return find_faults(Run.objects.locked(run.pk) or run)


@transaction.atomic
def repair_run(run: Run, who: str = "", why: str = "") -> list[ConsistencyFault]:
    """Count what is counted of a run from its answers, and judge by that; returns what is left."""
    locked = Run.objects.locked(run.pk) or run
    wrong = [fault.words for fault in find_faults(locked) if fault.mends]
    if wrong:
        _blocked_records(locked).delete()
        for row in _read_rows(locked):
            if row.asked != row.dealt:
                Candidate.objects.filter(pk=row.pk).update(asked=row.dealt)
        if locked.budget is not None and locked.count_spent() > locked.budget:
            locked.budget = locked.count_spent()
            locked.save(update_fields=["budget"])
        late_regrades.grade_answers(locked)
        verdict = rejudge(locked)
        said = f"Counted anew from the answers. {' '.join(wrong)} {verdict}"
        events.write_event(locked, "recount", said, who, why)
        wakeups.request_step(locked.pk)
    return find_faults(Run.objects.get(pk=run.pk))


class _Row(NamedTuple):
    """What is stored of a candidate, and what its assignments and answers say."""

    pk: int
    worker: str
    asked: int
    pulls: int
    void: int
    rewards: float
    dealt: int
    last: int | None
    told: int
    silent: int
    won: int
    reached: int | None


def _read_rows(run: Run) -> list[_Row]:
    right = Q(assignments__answer__right=True)
    found = run.candidates.order_by("arm").annotate(
        dealt=Count("assignments"),
        last=Max("assignments__position"),
        told=Count("assignments__answer", filter=COUNTED & ~VOID),
        silent=Count("assignments__answer", filter=COUNTED & VOID),
        won=Count("assignments__answer", filter=COUNTED & ~VOID & right),
        reached=Max("assignments__position", filter=COUNTED),
    )
    columns = ("worker__key" if name == "worker" else name for name in _Row._fields)
    return [_Row(*row) for row in found.values_list(*columns)]


def _check_tallies(rows: list[_Row]) -> Iterator[ConsistencyFault]:
    pairs = {
        "asked": ("dealt", "questions asked"),
        "pulls": ("told", "answers counted"),
        "void": ("silent", "answers to retired questions"),
        "rewards": ("won", "right answers"),
    }
    for column, (found, words) in pairs.items():
        wrong = [
            f"{row.worker} (stored {getattr(row, column):g}, there {getattr(row, found)})"
            for row in rows
            if getattr(row, column) != getattr(row, found)
        ]
        if wrong:
            yield ConsistencyFault(
                column, f"{words.capitalize()} are not those stored: {_shorten_names(wrong)}.", True
            )


def _check_order(rows: list[_Row]) -> Iterator[ConsistencyFault]:
    """Positions without a gap, and counted from the first one on (law 2)."""
    gaps = [row.worker for row in rows if row.last is not None and row.last + 1 != row.dealt]
    if gaps:
        yield ConsistencyFault("gaps", f"Positions are missing of {_shorten_names(gaps)}.")
    ahead = [
        row.worker
        for row in rows
        if row.reached is not None and row.reached + 1 != row.told + row.silent
    ]
    if ahead:
        yield ConsistencyFault(
            "order", f"An answer was counted before an earlier one of {_shorten_names(ahead)}."
        )


def _check_questions(run: Run) -> Iterator[ConsistencyFault]:
    """Nobody is given a question twice (law 6), nor judged by one that was never shown (law 2)."""
    handed_out = Assignment.objects.filter(candidate__run=run).order_by()
    pairs = handed_out.values("candidate__worker", "question").annotate(times=Count("pk"))
    again = pairs.filter(times__gt=1).values_list("candidate__worker__key", flat=True)
    if names := sorted(set(again)):
        yield ConsistencyFault(
            "twice", f"A question was handed out twice to {_shorten_names(names)}."
        )
    unseen = handed_out.filter(answer__expired=True, shown=None)
    if names := sorted(set(unseen.values_list("candidate__worker__key", flat=True))):
        yield ConsistencyFault(
            "unseen", f"Time was up for what was never shown to {_shorten_names(names)}."
        )


def _check_answers(run: Run) -> Iterator[ConsistencyFault]:
    of_run = Answer.objects.filter(assignment__candidate__run=run)
    strays = (
        of_run.exclude(run=run).count()
        + run.answers.exclude(assignment__candidate__run=run).count()
    )
    if strays:
        yield ConsistencyFault(
            "strays", f"{strays} answers are noted for another run than they were given in."
        )
    if again := _blocked_records(run).count():
        words = f"{again} answers wait for questions that were asked already: no step can be taken."
        yield ConsistencyFault("waiting", words, True)
    late = of_run.filter(applied_in__gt=run.steps).count()
    if late:
        yield ConsistencyFault(
            "future", f"{late} answers are counted in steps that were not taken."
        )
    wrong = [str(question) for question in late_regrades.misgraded_questions(run.pk)]
    if wrong:
        words = f"Answers to {_shorten_names(wrong)} are not graded as the question says."
        yield ConsistencyFault("grades", words, True)


def _blocked_records(run: Run) -> QuerySet[RecordedAnswer]:
    """Recorded answers that wait for what was asked already, and so cannot be asked for."""
    mine = {"candidate": OuterRef("candidate"), "question": OuterRef("question")}
    waiting = RecordedAnswer.objects.filter(candidate__run=run).order_by()
    return waiting.filter(Exists(Assignment.objects.filter(**mine)))


def _check_steps(run: Run, rows: list[_Row]) -> Iterator[ConsistencyFault]:
    taken = run.history.aggregate(count=Count("pk"), last=Max("number"))
    if (taken["count"], taken["last"] or 0) != (run.steps, run.steps):
        words = f"{run.steps} steps are counted and {taken['count']} are there."
        yield ConsistencyFault("steps", words)
    spent = sum(row.dealt for row in rows) - run.answers.closed_unseen().count()
    if run.budget is not None and spent > run.budget:
        words = f"{spent:,} questions were handed out of a budget of {run.budget:,}."
        yield ConsistencyFault("budget", words, _is_explained_by_void(run, spent))


def _is_explained_by_void(run: Run, spent: int) -> bool:
    """Whether answers to retired questions explain it, which cost nothing in earlier versions: the
    budget is then what was handed out. One that the algorithm planned with stays."""
    excess = spent - (run.budget or spent)
    return not run.fixed_budget and run.answers.wasted().count() >= excess


def _check_end(run: Run) -> Iterator[ConsistencyFault]:
    """As many are selected as were wanted, where the promise was kept."""
    if not run.ended_by_guarantee or run.regraded:
        return
    for skill in run.skills:
        chosen = run.candidates.filter(
            skill=skill.number, verdict=Candidate.Verdicts.ACCEPTED, gone=""
        ).count()
        if chosen != skill.k:
            yield ConsistencyFault(
                "selection", f"{chosen} are selected where {skill.k} were wanted."
            )


def _shorten_names(names: list[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more

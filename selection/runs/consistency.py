"""Check of a run's stored figures against its answers, and a recount if they disagree."""

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
from selection.texts import counted

MOST_NAMED = 5  # workers named in a sentence
COUNTED = Q(assignments__answer__applied_in__isnull=False)
VOID = Q(assignments__answer__void=True)


@dataclass(frozen=True)
class ConsistencyFault:
    """A law that a run breaks.

    law    its name, for programs
    words  the places, for people
    mends  True if a recount repairs it
    """

    law: str
    words: str
    mends: bool = False


def find_faults(run: Run) -> list[ConsistencyFault]:
    """Find every law that a run breaks, from its assignments and answers; empty for a sound run.

    The caller holds a run that goes on (``check_run``), or a step comes in between. Raises Conflict
    for a run that has not begun.
    """
    if run.status == Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” is a draft: there is nothing to count.")
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
    """Find the faults of a run that may be in use: steps wait meanwhile, answers do not."""
    return find_faults(Run.objects.locked(run.pk) or run)


@transaction.atomic
def repair_run(run: Run, who: str = "") -> list[ConsistencyFault]:
    """Recount a run from its answers and decide anew; return the faults that remain."""
    locked = Run.objects.locked(run.pk) or run
    faults = [fault.words for fault in find_faults(locked) if fault.mends]
    if faults:
        _blocked_records(locked).delete()
        for row in _read_rows(locked):
            if row.asked != row.dealt:
                Candidate.objects.filter(pk=row.pk).update(asked=row.dealt)
        late_regrades.grade_answers(locked)
        verdict = rejudge(locked)
        text = f"Recounted from the answers. {' '.join(faults)} {verdict}"
        events.write_event(locked, "recount", text, who)
        wakeups.request_step(locked.pk)
    return find_faults(Run.objects.get(pk=run.pk))


class _Row(NamedTuple):
    """A candidate's stored figures, and the same from their assignments and answers."""

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
    correct = Q(assignments__answer__right=True)
    rows = run.candidates.order_by("arm").annotate(
        dealt=Count("assignments"),
        last=Max("assignments__position"),
        told=Count("assignments__answer", filter=COUNTED & ~VOID),
        silent=Count("assignments__answer", filter=COUNTED & VOID),
        won=Count("assignments__answer", filter=COUNTED & ~VOID & correct),
        reached=Max("assignments__position", filter=COUNTED),
    )
    columns = ("worker__key" if name == "worker" else name for name in _Row._fields)
    return [_Row(*row) for row in rows.values_list(*columns)]


def _check_tallies(rows: list[_Row]) -> Iterator[ConsistencyFault]:
    pairs = {
        "asked": ("dealt", "questions asked"),
        "pulls": ("told", "answers counted"),
        "void": ("silent", "answers to retired questions"),
        "rewards": ("won", "right answers"),
    }
    for column, (source, label) in pairs.items():
        wrong = [
            f"{row.worker} (stored {getattr(row, column):g}, there {getattr(row, source)})"
            for row in rows
            if getattr(row, column) != getattr(row, source)
        ]
        if wrong:
            yield ConsistencyFault(
                column,
                f"{label.capitalize()} differ from the stored values: {_shorten_names(wrong)}.",
                True,
            )


def _check_order(rows: list[_Row]) -> Iterator[ConsistencyFault]:
    """Yield a fault for positions with a gap, or not counted from the first one on (law 2)."""
    gaps = [row.worker for row in rows if row.last is not None and row.last + 1 != row.dealt]
    if gaps:
        yield ConsistencyFault("gaps", f"Positions are missing of {_shorten_names(gaps)}.")
    early = [
        row.worker
        for row in rows
        if row.reached is not None and row.reached + 1 != row.told + row.silent
    ]
    if early:
        yield ConsistencyFault(
            "order", f"An answer was counted before an earlier one of {_shorten_names(early)}."
        )


def _check_questions(run: Run) -> Iterator[ConsistencyFault]:
    """Yield a fault for a question asked twice (law 6), or expired without being shown (law 2)."""
    handed_out = Assignment.objects.filter(candidate__run=run).order_by()
    pairs = handed_out.values("candidate__worker", "question").annotate(times=Count("pk"))
    repeated = pairs.filter(times__gt=1).values_list("candidate__worker__key", flat=True)
    if names := sorted(set(repeated)):
        yield ConsistencyFault(
            "twice", f"A question was assigned twice to {_shorten_names(names)}."
        )
    unseen = handed_out.filter(answer__expired=True, shown=None)
    if names := sorted(set(unseen.values_list("candidate__worker__key", flat=True))):
        yield ConsistencyFault(
            "unseen", f"An unseen question timed out for {_shorten_names(names)}."
        )


def _check_answers(run: Run) -> Iterator[ConsistencyFault]:
    answers = Answer.objects.filter(assignment__candidate__run=run)
    strays = (
        answers.exclude(run=run).count()
        + run.answers.exclude(assignment__candidate__run=run).count()
    )
    if strays:
        yield ConsistencyFault(
            "strays", f"{counted(strays, 'answer', 'are')} recorded in the wrong run."
        )
    if blocked := _blocked_records(run).count():
        text = (
            f"{counted(blocked, 'imported answer', 'belong')} to questions asked before: "
            "no step is possible."
        )
        yield ConsistencyFault("waiting", text, True)
    late = answers.filter(applied_in__gt=run.steps).count()
    if late:
        yield ConsistencyFault(
            "future", f"{counted(late, 'answer', 'are')} counted in missing steps."
        )
    wrong = [str(question) for question in late_regrades.misgraded_questions(run.pk)]
    if wrong:
        text = f"Answers to {_shorten_names(wrong)} are not graded as the question says."
        yield ConsistencyFault("grades", text, True)


def _blocked_records(run: Run) -> QuerySet[RecordedAnswer]:
    """Find recorded answers to questions that were asked already, which no step can ask for."""
    same = {"candidate": OuterRef("candidate"), "question": OuterRef("question")}
    waiting = RecordedAnswer.objects.filter(candidate__run=run).order_by()
    return waiting.filter(Exists(Assignment.objects.filter(**same)))


def _check_steps(run: Run, rows: list[_Row]) -> Iterator[ConsistencyFault]:
    steps = run.history.aggregate(count=Count("pk"), last=Max("number"))
    if (steps["count"], steps["last"] or 0) != (run.steps, run.steps):
        text = f"{counted(run.steps, 'step', 'are')} counted and {steps['count']} are there."
        yield ConsistencyFault("steps", text)
    spent = sum(row.dealt for row in rows) - run.answers.closed_unseen().count()
    if run.budget is not None and spent > run.budget:
        text = (
            f"{counted(spent, 'assignment', 'exceed')} the budget of "
            f"{counted(run.budget, 'answer')}."
        )
        yield ConsistencyFault("budget", text)


def _check_end(run: Run) -> Iterator[ConsistencyFault]:
    """Yield a fault for each skill whose selection differs from K though the guarantee holds."""
    if not run.ended_by_guarantee or run.regraded:
        return
    for skill in run.skills:
        chosen = run.candidates.filter(
            skill=skill.number, verdict=Candidate.Verdicts.ACCEPTED, gone=""
        ).count()
        if chosen != skill.k:
            yield ConsistencyFault("selection", f"{chosen} are selected instead of {skill.k}.")


def _shorten_names(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more

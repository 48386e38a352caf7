"""Corrections of gold questions: change a key or retire a question, and regrade its answers.

The tallies are then recounted from the answers, and the algorithm decides by them. A regrade is a
step of its own in each affected run: no messages are sent and no questions dealt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from selection import db_clock, wakeups
from selection.engine import late_regrades, rejudge
from selection.engine.rejudge import Tally
from selection.errors import Conflict, Refused
from selection.facts import Facts
from selection.grading.rules import describe_grading, is_match
from selection.history import events
from selection.models import (
    DELETED,
    Answer,
    Assignment,
    GoldAnswer,
    Question,
    RecordedAnswer,
    Run,
)
from selection.texts import counted
from selection.watches import steps
from topk import THIS_SET

CHUNK = 2000
MOST_NAMED = 10
# Empty answers that closed a retired question, and responses deleted by the retention period.
WITHOUT_RESPONSE = Q(response__in=("", DELETED), expired=False)


@dataclass(frozen=True)
class Gold:
    """The prompt and key of a question, present or corrected."""

    prompt: str
    accepted: list[str]
    choices: list[str]
    grading: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_question(cls, question: Question) -> "Gold":
        return cls(question.prompt, question.accepted, question.choices, question.grading)


# -- preview


def is_asked(question: Question) -> bool:
    """Tell if the question was handed out, or has an answer waiting or in a watch."""
    same = {"candidate__run__in": runs_of(question), "question": question}
    in_run = any(rows.objects.filter(**same).exists() for rows in (Assignment, RecordedAnswer))
    return in_run or GoldAnswer.objects.filter(question=question).exists()


def runs_of(question: Question) -> QuerySet[Run]:
    uses = Q(question_set=question.question_set_id)
    uses |= Q(further__question_set=question.question_set_id)
    runs = Run.objects.exclude(status=Run.Status.DRAFT)
    return runs.filter(pk__in=Run.objects.filter(uses).values("pk")).order_by("pk")


def preview_correction(question: Question, gold: Gold | None = None) -> list[Facts]:
    """Describe the effect, by run, of correcting the question; without ``gold``, of retiring it."""
    return [
        effect
        for run in runs_of(question)
        if (effect := _preview_in_run(run, question, gold)).answers
    ]


def _preview_in_run(run: Run, question: Question, gold: Gold | None) -> Facts:
    rows = list(_list_given_answers(run, question).values_list("response", "right", "expired"))
    if gold is None:
        return Facts(run=run, answers=len(rows), graded=len(rows))
    changed = sum(_is_right(gold, response, late) != grade for response, grade, late in rows)
    return Facts(run=run, answers=len(rows), graded=changed)


def _list_given_answers(run: Run, question: Question) -> QuerySet[Answer]:
    rows = Answer.objects.filter(assignment__candidate__run=run, assignment__question=question)
    return rows.order_by().exclude(WITHOUT_RESPONSE)


def _is_right(gold: Gold, response: str, expired: bool) -> bool:
    return not expired and is_match(gold.accepted, response, gold.grading, gold.choices)


# -- correction


@transaction.atomic
def correct_question(question: Question, gold: Gold, who: str = "", why: str = "") -> list[Run]:
    """Change the question's key and regrade all answers to it; return the affected runs.

    Raises Refused without a reason if the question was asked, or if nothing would change.
    """
    locked = _lock_question(question)
    before = Gold.from_question(locked)
    if gold == before:
        raise Refused("Nothing would change: the question is like this already.")
    locked.prompt, locked.accepted = gold.prompt, gold.accepted
    locked.choices, locked.grading = gold.choices, gold.grading
    locked.save(update_fields=["prompt", "accepted", "choices", "grading"])
    return _apply_everywhere(locked, _describe_changes(before, gold), who, why)


@transaction.atomic
def retire_question(question: Question, who: str = "", why: str = "") -> list[Run]:
    """Stop asking the question and void its answers; return the affected runs.

    Raises Conflict if it is retired already, Refused without a reason.
    """
    locked = _lock_question(question)
    if locked.retired:
        raise Conflict(f"“{locked}” is retired already.")
    locked.retired, locked.retired_why = db_clock.database_now(), why[:300]
    locked.save(update_fields=["retired", "retired_why"])
    return _apply_everywhere(locked, "retired: no answer to it counts", who, why, resizes=True)


@transaction.atomic
def restore_question(question: Question, who: str = "", why: str = "") -> list[Run]:
    """Ask a retired question again and count its answers as before; return the affected runs.

    Assignments closed while it was retired are not dealt again. Raises Conflict for a question that
    is not retired, or that a run on the whole set passed over; Refused without a reason.
    """
    locked = _lock_question(question)
    if not locked.retired:
        raise Conflict(f"“{locked}” is not retired.")
    _refuse_passed_over(locked)
    locked.retired, locked.retired_why = None, ""
    locked.save(update_fields=["retired", "retired_why"])
    change = "restored: the answers to it count again"
    return _apply_everywhere(locked, change, who, why, resizes=True)


def _refuse_passed_over(question: Question) -> None:
    """Raise Conflict if models of a common order on the set passed the question over.

    Without their answers no pair could be compared on the whole set (same-questions.md of topk).
    """
    for run in filter(_is_resized, runs_of(question)):
        rows = Answer.objects.filter(assignment__candidate__run=run, assignment__question=question)
        if rows.filter(WITHOUT_RESPONSE, void=True).exists():
            raise Conflict(
                f"Models of the run “{run}” passed “{question}” over, and its guarantee is about "
                "all questions that stay: import the question again under another key."
            )


def _lock_question(question: Question) -> Question:
    # No key lock: a step that holds the run awaited here inserts references to the question.
    return Question.objects.select_for_update(no_key=True).get(pk=question.pk)


def list_differences(before: Gold, after: Gold) -> list[tuple[str, str, str]]:
    usual = "as text, capitals and spacing aside"
    rows = [
        ("accepted", " | ".join(before.accepted), " | ".join(after.accepted)),
        ("choices", " | ".join(before.choices) or "none", " | ".join(after.choices) or "none"),
        (
            "compared",
            describe_grading(before.grading) or usual,
            describe_grading(after.grading) or usual,
        ),
        ("prompt", before.prompt, after.prompt),
    ]
    return [row for row in rows if row[1] != row[2]]


def _describe_changes(before: Gold, after: Gold) -> str:
    rows = list_differences(before, after)
    parts = [f"{part} “{old}”, now “{new}”" for part, old, new in rows if part != "prompt"]
    if rows and rows[-1][0] == "prompt":
        parts.append("the wording changed; who answered had read the old one")
    return "; ".join(parts)


def _apply_everywhere(
    question: Question, change: str, who: str, why: str, resizes: bool = False
) -> list[Run]:
    """Regrade every run and watch that asked it, by id, so that two corrections never deadlock.

    resizes  the number of questions changes, which some runs compare all models on
    """
    if not why.strip() and is_asked(question):
        raise Refused("Give a reason: it is written to the history of the runs.")
    touched = [
        _apply_in_run(run.pk, question, change, who, why, resizes and _is_resized(run))
        for run in runs_of(question)
    ]
    runs = [run for run in touched if run is not None]
    steps.regrade_question(question)
    transaction.on_commit(lambda: _regrade_late_answers(runs), robust=True)
    return runs


def _regrade_late_answers(runs: Sequence[Run]) -> None:
    """Regrade answers recorded by the old key after their run's regrade and before the commit."""
    for run in runs:
        late_regrades.regrade_late_answers(run.pk, run.steps)


def _is_resized(run: Run) -> bool:
    """Tell if the number of questions that are not retired is part of the run's evidence."""
    return run.selector_class.common_order and run.options.get("accuracy") == THIS_SET


def _apply_in_run(
    pk: int, question: Question, change: str, who: str, why: str, always: bool
) -> Run | None:
    run = Run.objects.locked(pk)
    asked = Assignment.objects.filter(candidate__run=pk, question=question).exists()
    if run is None or not (asked or always):
        return None
    candidates = run.candidates.filter(assignments__question=question).select_related("worker")
    before = rejudge.read_tallies(candidates)
    if question.retired:
        _close_open_assignments(run, question)
    regraded = _regrade_answers(run, question)
    verdict = rejudge.rejudge(run)
    changes = _describe_changed_tallies(before, rejudge.read_tallies(candidates.all()))
    text = f"Question “{question}” {change}. {regraded} graded anew. {changes} {verdict}"
    events.write_event(run, "regrade", text, who, why)
    wakeups.request_step(run.pk)
    return run


def _close_open_assignments(run: Run, question: Question) -> None:
    """Close the open assignments of a retired question with void answers, which count nothing."""
    still_open = Assignment.objects.open().filter(candidate__run=run, question=question)
    now = db_clock.database_now()
    # A concurrent record_shown comes before this, and the question costs, or finds it closed.
    Assignment.objects.filter(pk__in=still_open.filter(due=None).values("pk")).update(due=now)
    Answer.objects.bulk_create(
        [
            Answer(assignment_id=pk, run=run, right=False, void=True, at=now)
            for pk in still_open.values_list("pk", flat=True)
        ],
        CHUNK,
        ignore_conflicts=True,
    )


def _regrade_answers(run: Run, question: Question) -> str:
    """Set ``right`` and ``void`` of every answer to the question; return their number in words.

    An answer that came in while this waited for its lock is among them. Void answers are graded
    too, in case the question is restored.
    """
    gold, void = Gold.from_question(question), question.retired is not None
    rows = list(
        _list_given_answers(run, question).values_list("pk", "response", "expired", "right", "void")
    )
    grades = {pk: _is_right(gold, response, late) for pk, response, late, _, _ in rows}
    flips = [pk for pk, _, _, was, _ in rows if was != grades[pk]]
    for value in (True, False):
        _update_answers([pk for pk in flips if grades[pk] == value], right=value)
    _update_answers([row[0] for row in rows if row[4] != void], void=void)
    return counted(len(rows), "answer")


def _update_answers(answers: Sequence[int], **values: bool) -> None:
    for start in range(0, len(answers), CHUNK):
        Answer.objects.filter(pk__in=answers[start : start + CHUNK]).update(**values)


def _describe_changed_tallies(before: dict[int, Tally], after: dict[int, Tally]) -> str:
    changed = [(was, after[pk]) for pk, was in before.items() if was != after[pk]]
    if not changed:
        return "Nobody's count of right answers changed."
    lines = [f"{was.worker} {was} → {now}" for was, now in changed[:MOST_NAMED]]
    more = len(changed) - len(lines)
    ending = f", and {more} more" if more else ""
    return f"Right answers, before and after: {', '.join(lines)}{ending}."

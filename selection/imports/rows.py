"""Workers and questions sent by a program: store them and report on each row, in one call."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db import transaction

from selection import audit
from selection.answers.recording import NO_TEXT
from selection.errors import Refused
from selection.grading import question_kinds, rules
from selection.limits import LONGEST_KEY
from selection.models import (
    Attributes,
    Pool,
    QuestionSet,
    Worker,
    find_invisible,
    read_attributes,
)
from selection.models.questions import Gradable

from . import catalog, staging
from .row_parsers import QuestionRow, WorkerRow, read_email
from .staging import StagedRow

ADDED, CHANGED, UNCHANGED, REFUSED = "added", "changed", "unchanged", "refused"


Row = TypeVar("Row", WorkerRow, QuestionRow)


@dataclass(frozen=True)
class RowFate:
    """The result for a row, counted from 1; ``why`` only if it was refused."""

    row: int
    result: str
    why: str = ""


@transaction.atomic
def store_workers(pool: Pool, rows: Sequence[WorkerRow]) -> list[RowFate]:
    """Add these workers to the pool; those already in it get the new name and attributes."""
    fates, good = _sort_rows(
        [
            (replace(row, worker=staged.key or ""), staged)
            for row, staged in zip(rows, staging.stage_workers(pool, rows), strict=True)
        ],
        _refuse_worker,
    )
    catalog.take_workers(pool, good)
    return fates


def _refuse_worker(row: WorkerRow) -> None:
    _refuse_key(row.worker, "worker's id")
    if NO_TEXT.search(row.name):
        raise Refused("The name has an unreadable character.")
    read_attributes(row.attributes)
    read_email(row.email)


@transaction.atomic
def store_questions(question_set: QuestionSet, rows: Sequence[QuestionRow]) -> list[RowFate]:
    """Add these questions to the set; those already in it are replaced.

    A question that has been asked stays: questions.corrections corrects it.
    """
    asked = catalog.question_keys_asked(question_set)

    def refuse(row: QuestionRow) -> None:
        refuse_question(row)
        if row.question in asked:
            raise Refused(
                f"“{row.question}” has been asked: correct the question itself, and its "
                "answers are graded again."
            )

    fates, good = _sort_rows(
        [
            (replace(row, question=staged.key or ""), staged)
            for row, staged in zip(rows, staging.stage_questions(question_set, rows), strict=True)
        ],
        refuse,
    )
    catalog.take_questions(question_set, good)
    return fates


def refuse_question(row: QuestionRow) -> None:
    """Raise Refused for an invalid gold question."""
    _refuse_key(row.question, "question's id")
    if any(NO_TEXT.search(text) for text in (*row.columns, *row.columns.values())):
        raise Refused("A column has an unreadable character.")
    refuse_gold(row)


def refuse_gold(row: QuestionRow | Gradable) -> None:
    """Raise Refused for invalid contents of a gold question, whatever its key."""
    texts = [row.prompt, *row.accepted, *row.choices]
    if any(NO_TEXT.search(text) for text in texts):
        raise Refused("The question has an unreadable character.")
    if not row.prompt.strip():
        raise Refused("The prompt is empty: write a text for the worker.")
    if not row.accepted or not all(text.strip() for text in (*row.accepted, *row.choices)):
        raise Refused("An answer or a choice is empty, or there is no accepted answer.")
    try:
        rules.refuse_contradiction(row.grading)
    except ValueError as error:
        raise Refused(str(error)) from error
    for reason in question_kinds.find_question_faults(row.accepted, row.choices, row.grading):
        raise Refused(reason)


def _refuse_key(key: str, what: str) -> None:
    if not key or key != key.strip() or len(key) > LONGEST_KEY or NO_TEXT.search(key):
        raise Refused(
            f"A {what} has 1 to {LONGEST_KEY} readable characters, and no spaces around them."
        )
    if code := find_invisible(key):
        raise Refused(f"The {what} has an invisible character ({code}).")


def _sort_rows(
    rows: Sequence[tuple[Row, StagedRow]], refuse: Callable[[Row], None]
) -> tuple[list[RowFate], list[Row]]:
    fates: list[RowFate] = []
    good: list[Row] = []
    first: dict[str | None, int] = {}
    for row, staged in rows:
        before = staged.before
        result = ADDED if before is None else CHANGED
        if before is not None and before | staged.data == before:
            result = UNCHANGED
        try:
            if result != UNCHANGED:
                refuse(row)
            if staged.key in first:
                raise Refused(f"Row {first[staged.key]} has the same id.")
        except Refused as refusal:
            fates.append(RowFate(row.line, REFUSED, str(refusal)))
            continue
        first[staged.key] = row.line
        fates.append(RowFate(row.line, result))
        good += [row] if result != UNCHANGED else []
    return fates, good


def report_rows(target: Pool | QuestionSet, nouns: str, fates: Sequence[RowFate]) -> dict[str, Any]:
    counts = Counter(fate.result for fate in fates)
    audit.record_entry("import", target, after={nouns: counts[ADDED] + counts[CHANGED]})
    numbers = {result: counts[result] for result in (ADDED, CHANGED, UNCHANGED, REFUSED)}
    return {**numbers, "rows": [vars(fate) for fate in fates]}


def rename_worker(
    worker: Worker, name: str | None, attributes: Attributes | None, email: str | None = None
) -> None:
    """Give a worker another name, other attributes or another address; None leaves each.

    Raises Refused.
    """
    worker.name = worker.name if name is None else name
    worker.attributes = worker.attributes if attributes is None else attributes
    worker.mail_address = worker.mail_address if email is None else read_email(email)
    _refuse_worker(WorkerRow(1, worker.key, worker.name, worker.attributes))
    worker.save(update_fields=["name", "attributes", "mail_address"])

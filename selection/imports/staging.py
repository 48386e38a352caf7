"""Stage a file's rows, piece by piece, in a table that no other code reads.

Each piece takes a moment of the database's time, however long the file. A killed process loses its
last piece, and the next one continues after the stored rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from json import dumps
from typing import Any

from django.db import transaction
from django.db.models import F, Model

from selection.answers.recording import outside_choices, refuse_response
from selection.db import bulk
from selection.errors import Answered, Refused
from selection.models import (
    Pool,
    Question,
    QuestionSet,
    Run,
    Upload,
    UploadedRow,
    Watch,
    plain_key,
)
from selection.outbox import jobs
from selection.watches import gold

from . import catalog, gold_cells, row_parsers
from .column_plan import ASKED, ColumnPlan
from .readers import Table, read_table
from .row_parsers import AnswerRow, BadRow, QuestionRow, WorkerRow
from .validate_answers import AnswerValidator, ClosedPlace, refuse_swapped_answers

PIECE = 1000
# Rows that are checked for swapped columns.
LOOKED_AT = 200

Kind = Upload.Kind
TARGETS: dict[str, type[Model]] = {
    Kind.WORKERS: Pool,
    Kind.QUESTIONS: QuestionSet,
    Kind.ANSWERS: Run,
    Kind.GOLD: Watch,
}


@dataclass(frozen=True)
class StagedRow:
    """A row as stored; see UploadedRow."""

    line: int
    key: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    outside: bool = False
    before: dict[str, Any] | None = None


TARGET_DELETED = (
    "The pool, question set, run or watch of this file was deleted: upload the file elsewhere."
)


def target_of(upload: Upload) -> Any:
    """Find the pool, question set, run or watch; None if it was deleted."""
    return TARGETS[upload.kind]._default_manager.filter(pk=upload.subject).first()


def open_upload(upload: Upload) -> tuple[Table, ColumnPlan]:
    """Open the file's table and the plan for its columns. Raises Refused."""
    plan = ColumnPlan(**upload.plan)
    raw = bytes(upload.content)
    return read_table(raw, upload.name, upload.encoding, header=plan.header), plan


def stage_rows(upload: Upload, until: Callable[[], bool]) -> bool:
    """Stage rows until ``until`` returns True; return True if all are staged.

    Raises JobLost if another process does it or the file was put aside, and Refused if the file as
    a whole cannot be read.
    """
    table, plan = open_upload(upload)
    if upload.kind == Kind.GOLD:
        plan = replace(plan, kind=ASKED)
    parsed = islice(row_parsers.parse_rows(table, plan), upload.position, None)
    sort, look = _choose_staging(upload)
    while rows := [row for _, row in islice(parsed, PIECE)]:
        good = [row for row in rows if row is not None and not isinstance(row, BadRow)]
        if not upload.position:
            look(good[:LOOKED_AT])
        bad = [StagedRow(row.line, why=row.why) for row in rows if isinstance(row, BadRow)]
        passed = len(rows) - len(good) - len(bad)
        sorted_rows = list(sort(good))
        passed += len(good) - len(sorted_rows)
        staged, repeats = _first_of_each(upload, plan, sorted_rows)
        _store_piece(upload, len(rows), staged + bad, passed + repeats)
        if until():
            return False
    return True


# -- a piece


def _first_of_each(
    upload: Upload, plan: ColumnPlan, rows: Sequence[StagedRow]
) -> tuple[list[StagedRow], int]:
    """Keep the first of several rows about the same, here or in an earlier piece.

    The others are refused, or only counted if the plan expects them.
    """
    keys = [row.key for row in rows if row.key]
    first = dict(upload.rows.filter(key__in=keys).values_list("key", "line"))
    staged: list[StagedRow] = []
    passed = 0
    for row in rows:
        if row.key not in first:
            staged.append(row)
        elif plan.repeats:
            passed += 1
        else:
            why = f"This {upload.noun} is there already, in line {first[row.key]}."
            staged.append(StagedRow(row.line, data=row.data, why=why))
        if row.key:
            first.setdefault(row.key, row.line)
    return staged, passed


@transaction.atomic
def _store_piece(upload: Upload, count: int, rows: list[StagedRow], passed: int) -> None:
    outside = sum(row.outside for row in rows)
    bad = sum(bool(row.why) for row in rows) - outside
    upload.accepted_rows += len(rows) - bad - outside
    upload.outside += outside
    upload.bad += bad
    upload.passed += passed
    upload.position += count
    jobs.store_turn(upload, "result")
    bulk.insert_rows(
        UploadedRow,
        {
            "line": [row.line for row in rows],
            "key": [row.key for row in rows],
            "data": [dumps(row.data, ensure_ascii=False) for row in rows],
            "why": [row.why[:1000] for row in rows],
            "outside": [row.outside for row in rows],
            "fresh": [row.before is None for row in rows],
            "before": [row.before and dumps(row.before, ensure_ascii=False) for row in rows],
        },
        same={"upload_id": upload.pk},
    )


# -- staging, by kind


# Yields the staged form of each row; and raises Refused if columns of the first rows are swapped.
Staging = tuple[Callable[[Sequence[Any]], Iterator[StagedRow]], Callable[[Sequence[Any]], None]]


def _choose_staging(upload: Upload) -> Staging:
    target = target_of(upload)
    if target is None:
        raise Refused(TARGET_DELETED)
    if upload.kind == Kind.WORKERS:
        look = partial(catalog.refuse_swapped_workers, target)
        return partial(stage_workers, target), look
    if upload.kind == Kind.QUESTIONS:
        look = partial(catalog.refuse_swapped_questions, target)
        asked = catalog.question_keys_asked(target)
        return partial(_stage_unasked, target, asked), look
    if upload.kind == Kind.GOLD:
        return partial(_stage_gold, upload, target), partial(_refuse_swapped_gold, target)
    validator = AnswerValidator(target, "wrong", upload.created)
    return partial(_stage_answers, validator), validator.refuse_swapped


def stage_workers(pool: Pool, rows: Sequence[WorkerRow]) -> Iterator[StagedRow]:
    stored = pool.workers.filter(key__in=[row.worker for row in rows])
    before = _rows_by_key(stored.values("key", "name", "attributes", email=F("mail_address")))
    for row in rows:
        key, data = plain_key(row.worker), {"name": row.name, "attributes": row.attributes}
        data |= {"email": row.email} if row.email else {}
        yield StagedRow(row.line, key, data, before=before.get(key))


def _rows_by_key(rows: Any) -> dict[str, dict[str, Any]]:
    return {row.pop("key"): row for row in map(dict, rows)}


GOLD = ("prompt", "accepted", "choices", "grading")
STORED = (*GOLD, "columns")


def stage_questions(question_set: QuestionSet, rows: Sequence[QuestionRow]) -> Iterator[StagedRow]:
    stored = question_set.questions.filter(key__in=[row.question for row in rows])
    before = _rows_by_key(stored.values("key", *STORED))
    for row in rows:
        key, data = plain_key(row.question), {name: getattr(row, name) for name in STORED}
        yield StagedRow(row.line, key, data, before=before.get(key))


def _stage_unasked(
    question_set: QuestionSet, asked: set[str], rows: Sequence[QuestionRow]
) -> Iterator[StagedRow]:
    for staged in stage_questions(question_set, rows):
        if staged.key not in asked or staged.before is None:
            yield staged
        elif any(staged.before[name] != staged.data[name] for name in GOLD):
            yield replace(staged, why=catalog.offer_correction(staged.key), outside=True)


CLOSED = "closed"  # in the data of a refused row: candidate, question and response


def _stage_answers(validator: AnswerValidator, rows: Sequence[AnswerRow]) -> Iterator[StagedRow]:
    validator.note_ended(rows)
    for row in rows:
        try:
            place = validator.place(row)
        except ClosedPlace as refusal:
            candidate, question = refusal.place
            closed = {CLOSED: [candidate, question, row.response]}
            yield StagedRow(row.line, data=closed, why=str(refusal))
            continue
        except Refused as refusal:
            yield StagedRow(row.line, why=str(refusal))
            continue
        response = gold_cells.fit_response(
            row.response, place.question.choices, place.question.grading
        )
        data = asdict(row) | {"response": response}
        data |= {"candidate": place.candidate, "question_id": place.question.pk}
        outside = not place.question.allows(response)
        reason = str(place.strange(response)) if outside else ""
        yield StagedRow(row.line, f"{place.candidate}:{place.question.pk}", data, reason, outside)


def _stage_gold(upload: Upload, watch: Watch, rows: Sequence[AnswerRow]) -> Iterator[StagedRow]:
    given = [gold.GivenGold(row.worker, row.question, row.response) for row in rows]
    places = gold.GoldPlaces(watch, given)
    earlier = upload.rows.exclude(key=None).filter(data__worker__in={row.worker for row in rows})
    for worker, question in earlier.values_list("data__worker", "data__question_id"):
        places.note_met(worker, question)
    for row in rows:
        try:
            watched, question = places.find_place(row.worker, row.question)
            if places.stored.get((watched, question.pk)):
                raise Answered(f"“{row.worker}” has already answered question “{row.question}”.")
            places.note_met(row.worker, question.pk)
            if row.response:
                refuse_response(row.response)
        except Refused as refusal:
            yield StagedRow(row.line, data=asdict(row), why=str(refusal))
            continue
        response = gold_cells.fit_response(row.response, question.choices, question.grading)
        data = asdict(row) | {"response": response or None}
        data |= {"watched": watched, "question_id": question.pk}
        outside = bool(response) and not question.allows(response)
        reason = str(outside_choices(question.choices, response, question.kind)) if outside else ""
        yield StagedRow(row.line, f"{watched}:{question.pk}", data, reason, outside)


def _refuse_swapped_gold(watch: Watch, rows: Sequence[AnswerRow]) -> None:
    workers = set(watch.workers.values_list("worker__key", flat=True))
    questions = Question.objects.filter(question_set__watches=watch)
    keys = set(questions.values_list("key", flat=True))
    refuse_swapped_answers(rows, workers, keys, "this watch")

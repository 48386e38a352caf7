"""A file's rows, sorted piece by piece into a table of their own: nobody else sees them there.

What it costs the database is a moment for each piece, however long the file; a process that is
killed loses its last piece, and the next one goes on behind what is stored.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from json import dumps
from typing import Any

from django.db import transaction
from django.db.models import F, Model
from django.utils import timezone

from selection.db import bulk
from selection.errors import Refused
from selection.models import Pool, QuestionSet, Run, Upload, UploadedRow, map_to_stored

from . import catalog, row_parsers, surveys
from .column_plan import ColumnPlan
from .readers import Table, read_table
from .row_parsers import AnswerRow, BadRow, QuestionRow, WorkerRow
from .validate_answers import AnswerValidator

PIECE = 1000
# How many rows are looked at to tell whether columns are swapped.
LOOKED_AT = 200

Kind = Upload.Kind
NOUNS = {Kind.WORKERS: "worker", Kind.QUESTIONS: "question", Kind.ANSWERS: "answer"}
TARGETS: dict[str, type[Model]] = {
    Kind.WORKERS: Pool,
    Kind.QUESTIONS: QuestionSet,
    Kind.ANSWERS: Run,
}


@dataclass(frozen=True)
class StagedRow:
    """A row as it is stored; see UploadedRow."""

    line: int
    key: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    outside: bool = False
    before: dict[str, Any] | None = None


def target_of(upload: Upload) -> Any:
    """The pool, question set or run; None where it is gone."""
    return TARGETS[upload.kind]._default_manager.filter(pk=upload.target).first()


def open_upload(upload: Upload) -> tuple[Table, ColumnPlan]:
    """The file from its beginning, and what its columns mean. Raises Refused."""
    plan = ColumnPlan(**upload.plan)
    raw = bytes(upload.content)
    return read_table(raw, upload.name, upload.encoding, header=plan.header), plan


def stage_rows(upload: Upload, until: Callable[[], bool]) -> bool | None:
    """Sort its rows until it says so; whether all are sorted. None: somebody else does it, or
    nobody is to do it any more. Raises Refused where the file cannot be read as a whole.
    """
    table, plan = open_upload(upload)
    found = islice(row_parsers.parse_rows(table, plan), upload.position, None)
    sorting = _build_validation(upload)
    while rows := [made for _, made in islice(found, PIECE)]:
        good = [made for made in rows if made is not None and not isinstance(made, BadRow)]
        if not upload.position:
            sorting.look(good[:LOOKED_AT])
        bad = [StagedRow(made.line, why=made.why) for made in rows if isinstance(made, BadRow)]
        piece = _first_of_each(upload, plan, list(sorting.sort(good)))
        piece.rows += bad
        piece.passed += len(rows) - len(good) - len(bad)
        if not _store_piece(upload, len(rows), piece):
            return None
        if until():
            return False
    return True


# -- a piece


@dataclass
class RowBatch:
    rows: list[StagedRow]
    passed: int = 0


def _first_of_each(upload: Upload, plan: ColumnPlan, rows: Sequence[StagedRow]) -> RowBatch:
    """Of several rows about the same, here or in an earlier piece, the first counts."""
    keys = [row.key for row in rows if row.key]
    first = dict(upload.rows.filter(key__in=keys).values_list("key", "line"))
    piece = RowBatch([])
    for row in rows:
        if row.key not in first:
            piece.rows.append(row)
        elif plan.repeats:
            piece.passed += 1
        else:
            again = row_parsers.repeated_row(NOUNS[Kind(upload.kind)], row.line, first[row.key])
            piece.rows.append(StagedRow(row.line, why=again.why))
        if row.key:
            first.setdefault(row.key, row.line)
    return piece


@transaction.atomic
def _store_piece(upload: Upload, count: int, piece: RowBatch) -> bool:
    """Store a piece, if it is the next one of a file that is still being read."""
    held = Upload.objects.select_for_update().filter(
        pk=upload.pk,
        version=upload.version,
        position=upload.position,
        state=Upload.State.READING,
    )
    if not held.values_list("pk").first():
        return False
    rows = piece.rows
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
    outside = sum(row.outside for row in rows)
    bad = sum(bool(row.why) for row in rows) - outside
    counts = {"fine": len(rows) - bad - outside, "outside": outside, "bad": bad}
    counts |= {"passed": piece.passed, "position": count}
    held.update(moved=timezone.now(), **{name: F(name) + more for name, more in counts.items()})
    for name, more in counts.items():
        setattr(upload, name, getattr(upload, name) + more)
    return True


# -- what becomes of rows, by kind


@dataclass(frozen=True)
class RowStaging:
    """sort  says of each row what would become of it
    look  raises Refused where the columns of the first rows are swapped
    """

    sort: Callable[[Sequence[Any]], Iterator[StagedRow]]
    look: Callable[[Sequence[Any]], None]


def _build_validation(upload: Upload) -> RowStaging:
    target = target_of(upload)
    if target is None:
        raise Refused(f"What {upload.name} was to go into is not there any more.")
    if upload.kind == Kind.WORKERS:
        look = partial(catalog.refuse_swapped_workers, target)
        return RowStaging(partial(_stage_workers, target), look)
    if upload.kind == Kind.QUESTIONS:
        look = partial(catalog.refuse_swapped_questions, target)
        return RowStaging(
            partial(_stage_questions, target, catalog.question_keys_asked(target)), look
        )
    sorter = AnswerValidator(target, "wrong", upload.created)
    return RowStaging(partial(_stage_answers, sorter), sorter.refuse_swapped)


def _stage_workers(pool: Pool, found: Sequence[WorkerRow]) -> Iterator[StagedRow]:
    called = map_to_stored([row.worker for row in found], pool.workers.all())
    there = pool.workers.filter(key__in=list(called.values()))
    before = _rows_by_key(there.values("key", "name", "attributes"))
    for row in found:
        key, data = called[row.worker], {"name": row.name, "attributes": row.attributes}
        yield StagedRow(row.line, key, data, before=before.get(key))


def _rows_by_key(rows: Any) -> dict[str, dict[str, Any]]:
    return {row.pop("key"): row for row in map(dict, rows)}


GOLD = ("prompt", "accepted", "choices", "grading")


def _stage_questions(
    into: QuestionSet, asked: set[str], found: Sequence[QuestionRow]
) -> Iterator[StagedRow]:
    called = map_to_stored([row.question for row in found], into.questions.all())
    there = into.questions.filter(key__in=list(called.values()))
    before = _rows_by_key(there.values("key", *GOLD))
    for row in found:
        key = called[row.question]
        if key in asked:
            yield StagedRow(row.line, why=catalog.refuse_asked(key))
        else:
            data = {name: asdict(row)[name] for name in GOLD}
            yield StagedRow(row.line, key, data, before=before.get(key))


def _stage_answers(sorter: AnswerValidator, found: Sequence[AnswerRow]) -> Iterator[StagedRow]:
    for row in found:
        try:
            place = sorter.place(row)
        except Refused as refusal:
            yield StagedRow(row.line, why=str(refusal))
            continue
        response = surveys.join_ticked(place.question, row.response)
        data = asdict(row) | {"response": response}
        data |= {"candidate": place.candidate, "question_id": place.question.pk}
        outside = not place.question.allows(response)
        why = str(place.strange(response)) if outside else ""
        yield StagedRow(row.line, f"{place.candidate}:{place.question.pk}", data, why, outside)

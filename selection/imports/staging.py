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
from selection.models import Pool, QuestionSet, Run, Upload, UploadedRow, as_stored

from . import catalog, row_parsers, surveys
from .platforms import Plan
from .readers import Table, read_table
from .row_parsers import AnswerRow, BadRow, QuestionRow, WorkerRow
from .validate_answers import Sorter

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
class Staged:
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


def opened(upload: Upload) -> tuple[Table, Plan]:
    """The file from its beginning, and what its columns mean. Raises Refused."""
    plan = Plan(**upload.plan)
    raw = bytes(upload.content)
    return read_table(raw, upload.name, upload.encoding, header=plan.header), plan


def stage(upload: Upload, until: Callable[[], bool]) -> bool | None:
    """Sort its rows until it says so; whether all are sorted. None: somebody else does it, or
    nobody is to do it any more. Raises Refused where the file cannot be read as a whole.
    """
    table, plan = opened(upload)
    found = islice(row_parsers.rows(table, plan), upload.position, None)
    sorting = _sorting(upload)
    while rows := [made for _, made in islice(found, PIECE)]:
        good = [made for made in rows if made is not None and not isinstance(made, BadRow)]
        if not upload.position:
            sorting.look(good[:LOOKED_AT])
        bad = [Staged(made.line, why=made.why) for made in rows if isinstance(made, BadRow)]
        piece = _first_of_each(upload, plan, list(sorting.sort(good)))
        piece.rows += bad
        piece.passed += len(rows) - len(good) - len(bad)
        if not _keep(upload, len(rows), piece):
            return None
        if until():
            return False
    return True


# -- a piece


@dataclass
class Piece:
    rows: list[Staged]
    passed: int = 0


def _first_of_each(upload: Upload, plan: Plan, rows: Sequence[Staged]) -> Piece:
    """Of several rows about the same, here or in an earlier piece, the first counts."""
    keys = [row.key for row in rows if row.key]
    first = dict(upload.rows.filter(key__in=keys).values_list("key", "line"))
    piece = Piece([])
    for row in rows:
        if row.key not in first:
            piece.rows.append(row)
        elif plan.repeats:
            piece.passed += 1
        else:
            again = row_parsers.again(NOUNS[Kind(upload.kind)], row.line, first[row.key])
            piece.rows.append(Staged(row.line, why=again.why))
        if row.key:
            first.setdefault(row.key, row.line)
    return piece


@transaction.atomic
def _keep(upload: Upload, count: int, piece: Piece) -> bool:
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
    bulk.insert(
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
class Sorting:
    """sort  says of each row what would become of it
    look  raises Refused where the columns of the first rows are swapped
    """

    sort: Callable[[Sequence[Any]], Iterator[Staged]]
    look: Callable[[Sequence[Any]], None]


def _sorting(upload: Upload) -> Sorting:
    target = target_of(upload)
    if target is None:
        raise Refused(f"What {upload.name} was to go into is not there any more.")
    if upload.kind == Kind.WORKERS:
        look = partial(catalog.refuse_swapped_workers, target)
        return Sorting(partial(_workers, target), look)
    if upload.kind == Kind.QUESTIONS:
        look = partial(catalog.refuse_swapped_questions, target)
        return Sorting(partial(_questions, target, catalog.asked_of(target)), look)
    sorter = Sorter(target, "wrong", upload.created)
    return Sorting(partial(_answers, sorter), sorter.refuse_swapped)


def _workers(pool: Pool, found: Sequence[WorkerRow]) -> Iterator[Staged]:
    called = as_stored([row.worker for row in found], pool.workers.all())
    there = pool.workers.filter(key__in=list(called.values()))
    before = _by_key(there.values("key", "name", "attributes"))
    for row in found:
        key, data = called[row.worker], {"name": row.name, "attributes": row.attributes}
        yield Staged(row.line, key, data, before=before.get(key))


def _by_key(rows: Any) -> dict[str, dict[str, Any]]:
    return {row.pop("key"): row for row in map(dict, rows)}


GOLD = ("prompt", "accepted", "choices", "grading")


def _questions(
    into: QuestionSet, asked: set[str], found: Sequence[QuestionRow]
) -> Iterator[Staged]:
    called = as_stored([row.question for row in found], into.questions.all())
    there = into.questions.filter(key__in=list(called.values()))
    before = _by_key(there.values("key", *GOLD))
    for row in found:
        key = called[row.question]
        if key in asked:
            yield Staged(row.line, why=catalog.asked_already(key))
        else:
            data = {name: asdict(row)[name] for name in GOLD}
            yield Staged(row.line, key, data, before=before.get(key))


def _answers(sorter: Sorter, found: Sequence[AnswerRow]) -> Iterator[Staged]:
    for row in found:
        try:
            place = sorter.place(row)
        except Refused as refusal:
            yield Staged(row.line, why=str(refusal))
            continue
        response = surveys.ticked(place.question, row.response)
        data = asdict(row) | {"response": response}
        data |= {"candidate": place.candidate, "question_id": place.question.pk}
        outside = not place.question.allows(response)
        why = str(place.strange(response)) if outside else ""
        yield Staged(row.line, f"{place.candidate}:{place.question.pk}", data, why, outside)

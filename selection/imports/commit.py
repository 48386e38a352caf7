"""The one moment in which all that a file brings is there, and the one in which it is gone again.

Both are a few statements over rows that are sorted already, in one transaction: other people see
all of it or nothing, and other writers wait for a moment.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import (
    BigIntegerField,
    CharField,
    Exists,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    Window,
)
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Concat, RowNumber

from selection import wakeups
from selection.answers.recording import Outside, record_many
from selection.db import bulk
from selection.errors import Conflict, NotFound
from selection.models import (
    Assignment,
    Candidate,
    Pool,
    Question,
    QuestionSet,
    RecordedAnswer,
    Run,
    Upload,
    UploadedRow,
    Worker,
)

from . import catalog
from .staging import GOLD, target_of
from .validate_answers import refuse_ended

Rows = QuerySet[UploadedRow]

USED = "A run uses what this file brought, so it stays; change it there."


def accepted_rows(upload: Upload, outside: Outside = "refuse") -> Rows:
    """The rows that will be taken."""
    wanted = Q(why="") | Q(outside=True) if outside == "wrong" else Q(why="")
    return upload.rows.filter(wanted)


def rejected_rows(upload: Upload, outside: Outside = "refuse") -> Rows:
    """The rows that will not be taken, in order."""
    rows = upload.rows.exclude(why="")
    return rows.exclude(outside=True) if outside == "wrong" else rows


@transaction.atomic
def commit_import(upload_id: Any, outside: Outside = "refuse") -> tuple[Upload, int]:
    """Take all its good rows, once; the file, and how many rows they were.

    Raises NotFound where there is nothing to be taken any more, Refused or Conflict where its
    target does not take it.
    """
    upload = _lock_upload(upload_id, Upload.State.READY)
    target = target_of(upload)
    if target is None:
        raise NotFound(f"What {upload.name} was to go into is not there any more.")
    taken = _TAKERS[upload.kind](target, upload, outside)
    rejected_rows(upload, outside)._raw_delete("default")
    same = Upload.objects.filter(kind=upload.kind, target=upload.target)
    earlier = same.filter(state=Upload.State.TAKEN)
    forget_uploads(earlier)  # what is changed twice cannot be put back from the middle
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.TAKEN, content=b"", fine=taken)
    return upload, taken


@transaction.atomic
def undo_import(upload_id: Any) -> Upload:
    """Put everything back as it was before the file was taken.

    Raises NotFound for a file that was not taken, or not last; Conflict when a run uses it.
    """
    upload = _lock_upload(upload_id, Upload.State.TAKEN)
    try:
        with transaction.atomic():
            _UNDOERS[upload.kind](target_of(upload), upload)
    except IntegrityError as error:
        raise Conflict(USED) from error
    forget_uploads(Upload.objects.filter(pk=upload.pk))
    return upload


def forget_uploads(uploads: QuerySet[Upload]) -> None:
    """Drop these files with their rows, without loading them."""
    with transaction.atomic():
        UploadedRow.objects.filter(upload__in=uploads.values("pk"))._raw_delete("default")
        uploads._raw_delete("default")


def _lock_upload(upload_id: Any, state: Upload.State) -> Upload:
    rows = Upload.objects.select_for_update().defer("content").filter(pk=upload_id, state=state)
    upload = rows.first()
    if upload is None:
        raise NotFound("This file has been imported or put aside already.")
    return upload


def _text_column(name: str, source: str = "data") -> KeyTextTransform:
    return KeyTextTransform(name, source)


def _json_column(name: str, source: str = "data") -> KeyTransform:
    return KeyTransform(name, source)


def _number_column(name: str) -> Cast:
    return Cast(KeyTextTransform(name, "data"), BigIntegerField())


def _mark_fresh(rows: Rows, there: QuerySet[Any]) -> None:
    """Correct of which rows the key is there already: it may have come since they were sorted."""
    known = Exists(there.filter(key=OuterRef("key")))
    rows.filter(known, fresh=True).update(fresh=False)
    rows.filter(~known, fresh=False).update(fresh=True)


# -- workers


def _take_workers(pool: Pool, upload: Upload, outside: Outside) -> int:
    rows = accepted_rows(upload)
    _mark_fresh(rows, Worker.objects.filter(pool=pool))
    return _store_workers(pool, rows, "data")


def _store_workers(pool: Pool, rows: Rows, source: str) -> int:
    """With the name and attributes that the rows have in this column."""
    columns = {
        "pool_id": Value(pool.pk),
        "key": F("key"),
        "name": _text_column("name", source),
        "attributes": _json_column("attributes", source),
    }
    return bulk.insert_from(
        Worker, columns, rows, same=["pool_id", "key"], changed=["name", "attributes"]
    )


def _undo_workers(pool: Pool, upload: Upload) -> None:
    new = accepted_rows(upload).filter(fresh=True).values("key")
    brought = Worker.objects.filter(pool=pool, key__in=new)
    if Candidate.objects.filter(worker__in=brought.values("pk")).exists():
        raise Conflict(USED)
    brought._raw_delete("default")
    _store_workers(pool, accepted_rows(upload).filter(before__isnull=False), "before")


# -- questions


def _take_questions(into: QuestionSet, upload: Upload, outside: Outside) -> int:
    QuestionSet.objects.select_for_update().get(pk=into.pk)
    there = Question.objects.filter(question_set=into)
    _mark_fresh(accepted_rows(upload), there)
    known = accepted_rows(upload).filter(fresh=False).values_list("key", flat=True)
    asked = catalog.question_keys_asked(into) & set(known)  # since the file was sorted
    if asked:
        raise Conflict(catalog.refuse_asked(min(asked)))
    last = there.aggregate(last=Max("number"))["last"]
    following = 0 if last is None else last + 1
    in_order = Window(RowNumber(), order_by=["line", "pk"]) + Value(following - 1)
    new = _store_questions(into, accepted_rows(upload).filter(fresh=True), "data", in_order)
    return new + _change_questions(into, accepted_rows(upload).filter(fresh=False), "data")


def _store_questions(into: QuestionSet, rows: Rows, source: str, number: Any) -> int:
    columns = {
        "question_set_id": Value(into.pk),
        "key": F("key"),
        "number": number,
        "prompt": _text_column("prompt", source),
        **{name: _json_column(name, source) for name in GOLD if name != "prompt"},
        "retired_why": Value(""),
    }
    return bulk.insert_from(Question, columns, rows, same=["question_set_id", "key"], changed=GOLD)


def _change_questions(into: QuestionSet, rows: Rows, source: str) -> int:
    own = Question.objects.filter(question_set=into, key=OuterRef("key")).values("number")
    return _store_questions(into, rows, source, Subquery(own))


def _undo_questions(into: QuestionSet, upload: Upload) -> None:
    QuestionSet.objects.select_for_update().get(pk=into.pk)
    begun = Run.objects.filter(Q(question_set=into) | Q(further__question_set=into))
    if begun.exclude(status=Run.Status.DRAFT).exists():
        raise Conflict(USED)
    there = Question.objects.filter(question_set=into)
    brought = there.filter(key__in=accepted_rows(upload).filter(fresh=True).values("key"))
    first = brought.order_by("number").values_list("number", flat=True).first()
    if first is not None and there.filter(number__gte=first).count() > brought.count():
        raise Conflict("Questions were added behind those of this file, so they stay.")
    brought._raw_delete("default")
    _change_questions(into, accepted_rows(upload).filter(before__isnull=False), "before")


# -- answers


def _take_answers(run: Run, upload: Upload, outside: Outside) -> int:
    """Those to assignments that are out count now; the others wait until they are asked for."""
    # Held, because a step that hands out what waits here would do so twice.
    refuse_ended(Run.objects.locked(run.pk) or run)
    rows = accepted_rows(upload, outside)
    out = {f"{one.candidate_id}:{one.question_id}": one for one in _open_assignments(run)}
    given: list[tuple[Assignment, str]] = []
    for keys in _chunk_keys(list(out)):
        found = rows.filter(key__in=keys).values_list("key", _text_column("response"))
        given += [(out[key], response) for key, response in found]
    counted = record_many(run, given)
    asked = Assignment.objects.filter(
        candidate=OuterRef("of_candidate"), question=OuterRef("of_question")
    )
    unasked = rows.annotate(
        of_candidate=_number_column("candidate"), of_question=_number_column("question_id")
    )
    columns = {
        "candidate_id": F("of_candidate"),
        "question_id": F("of_question"),
        "response": _text_column("response"),
    }
    waiting = bulk.insert_from(RecordedAnswer, columns, unasked.filter(~Exists(asked)))
    if waiting:
        Run.objects.filter(pk=run.pk).update(has_recorded=True)
    wakeups.request_step(run.pk)
    upload.rows.update(fresh=not counted)  # what counts at once is used
    return counted + waiting


def _open_assignments(run: Run) -> list[Assignment]:
    """Out now and in time."""
    asked = Assignment.objects.filter(candidate__run=run).answerable()
    return list(asked.select_related("question"))


def count_by_moment(upload: Upload, outside: Outside) -> tuple[int, int, int]:
    """How many answers would count at once, how many would wait until they are asked for, and how
    many would wait for a retired question, which is asked only if it is restored."""
    run = target_of(upload)
    keys = [f"{c}:{q}" for c, q in _open_pairs(run)]
    rows = accepted_rows(upload, outside)
    now = sum(rows.filter(key__in=part).count() for part in _chunk_keys(keys))
    sets = [skill.question_set_id for skill in run.skills]
    retired = Question.objects.filter(question_set__in=sets).exclude(retired=None)
    vain = (
        rows.annotate(of_question=_number_column("question_id"))
        .filter(of_question__in=retired)
        .count()
    )
    return now, rows.count() - now - vain, vain


def _open_pairs(run: Run) -> list[tuple[int, int]]:
    asked = Assignment.objects.filter(candidate__run=run).answerable().order_by()
    return list(asked.values_list("candidate_id", "question_id"))


def _undo_answers(run: Run, upload: Upload) -> None:
    Run.objects.locked(run.pk)  # against the engine, which takes waiting answers
    rows = upload.rows.exclude(key=None)
    pair = Concat(_name_column("candidate_id"), Value(":"), _name_column("question_id"))
    waiting = RecordedAnswer.objects.filter(candidate__run=run).annotate(pair=pair)
    waiting = waiting.filter(Exists(rows.filter(key=OuterRef("pair"))))
    if rows.filter(fresh=False).exists() or waiting.count() < upload.fine:
        raise Conflict("The run has used answers of this file by now, so they stay.")
    RecordedAnswer.objects.filter(pk__in=waiting.values("pk"))._raw_delete("default")


def _name_column(column: str) -> Cast:
    return Cast(column, CharField())


def _chunk_keys(keys: Sequence[str], size: int = 2000) -> list[Sequence[str]]:
    return [keys[start : start + size] for start in range(0, len(keys), size)]


_TAKERS: dict[str, Callable[[Any, Upload, Outside], int]] = {
    Upload.Kind.WORKERS: _take_workers,
    Upload.Kind.QUESTIONS: _take_questions,
    Upload.Kind.ANSWERS: _take_answers,
}
_UNDOERS: dict[str, Callable[[Any, Upload], None]] = {
    Upload.Kind.WORKERS: _undo_workers,
    Upload.Kind.QUESTIONS: _undo_questions,
    Upload.Kind.ANSWERS: _undo_answers,
}

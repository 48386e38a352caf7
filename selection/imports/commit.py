"""Commit an import, or roll it back, in one transaction.

Both are a few statements over rows that are already validated: other people see all of the file or
nothing, and other writers wait only for a moment.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
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

from selection import audit, db_clock, wakeups
from selection.answers import uncounted
from selection.answers.recording import Outside, record_many
from selection.db import bulk
from selection.errors import Conflict, NotFound
from selection.models import (
    Assignment,
    Candidate,
    GoldAnswer,
    Pool,
    Question,
    QuestionSet,
    RecordedAnswer,
    Run,
    Upload,
    UploadedRow,
    Watch,
    WatchedWorker,
    Worker,
)
from selection.watches import gold, steps

from . import catalog
from .staging import CLOSED, STORED, TARGET_DELETED, target_of
from .validate_answers import refuse_ended

Rows = QuerySet[UploadedRow]

Corrector = Callable[[Any, Upload], int]  # of a question set by a file

CHUNK = 2000
UNDOABLE = timedelta(days=7)
USED = (
    "A run or a watch uses rows of this file: the import cannot be undone. Change the rows by hand."
)


def accepted_rows(upload: Upload, outside: Outside = "refuse") -> Rows:
    condition = Q(why="") if outside == "refuse" else Q(why="") | Q(outside=True)
    return upload.rows.filter(condition)


def rejected_rows(upload: Upload, outside: Outside = "refuse") -> Rows:
    rows = upload.rows.exclude(why="")
    return rows if outside == "refuse" else rows.exclude(outside=True)


@transaction.atomic
def commit_import(
    upload_id: Any, outside: Outside = "refuse", correct: Corrector | None = None
) -> tuple[Upload, int]:
    """Import all accepted rows, once; return the file and the number of rows.

    correct  corrects asked questions, and returns their number; see ``questions.corrected_files``

    Raises NotFound if there is nothing left to import, Refused or Conflict if its target does not
    take it.
    """
    upload = _lock_upload(upload_id, Upload.State.DONE)
    target = target_of(upload)
    if target is None:
        raise NotFound(TARGET_DELETED)
    count = _TAKERS[upload.kind](target, upload, outside)
    if correct:
        count += correct(target, upload)
    rejected_rows(upload, outside)._raw_delete("default")
    same = Upload.objects.filter(kind=upload.kind, subject=upload.subject)
    earlier = same.filter(state=Upload.State.TAKEN)
    forget_uploads(earlier)  # rows changed twice cannot be restored to a state in between
    upload.state, upload.content, upload.accepted_rows = Upload.State.TAKEN, b"", count
    upload.expires = db_clock.database_now() + UNDOABLE
    upload.save(update_fields=["state", "content", "result", "expires"])
    audit.record_entry("import", target, after={"file": upload.name, upload.kind: count})
    return upload, count


@transaction.atomic
def undo_import(upload_id: Any) -> Upload:
    """Restore the state before the file was imported.

    Raises NotFound for a file that was not imported, or not last; Conflict if a run uses it.
    """
    upload = _lock_upload(upload_id, Upload.State.TAKEN)
    target = target_of(upload)
    try:
        with transaction.atomic():
            _UNDOERS[upload.kind](target, upload)
    except IntegrityError as error:
        raise Conflict(USED) from error
    audit.record_entry("import undone", target, after={"file": upload.name})
    forget_uploads(Upload.objects.filter(pk=upload.pk))
    return upload


def forget_uploads(uploads: QuerySet[Upload]) -> None:
    with transaction.atomic():
        UploadedRow.objects.filter(upload__in=uploads.values("pk"))._raw_delete("default")
        uploads._raw_delete("default")


def _lock_upload(upload_id: Any, state: Upload.State) -> Upload:
    rows = Upload.objects.select_for_update().defer("content").filter(pk=upload_id, state=state)
    upload: Upload | None = rows.first()
    if upload is None:
        raise NotFound("This file was imported or discarded already.")
    return upload


def _number_column(name: str) -> Cast:
    return Cast(KeyTextTransform(name, "data"), BigIntegerField())


def _mark_fresh(rows: Rows, stored: QuerySet[Any]) -> None:
    """Correct the marks of new rows: keys may have been added since the file was validated."""
    exists = Exists(stored.filter(key=OuterRef("key")))
    rows.filter(exists, fresh=True).update(fresh=False)
    rows.filter(~exists, fresh=False).update(fresh=True)


# -- workers


def _take_workers(pool: Pool, upload: Upload, outside: Outside) -> int:
    rows = accepted_rows(upload)
    _mark_fresh(rows, Worker.objects.filter(pool=pool))
    return _store_workers(pool, rows, "data")


def _store_workers(pool: Pool, rows: Rows, source: str) -> int:
    """Store workers with the values in the column ``source`` of the rows.

    An address that the row does not have stays.
    """
    columns = {
        "pool_id": Value(pool.pk),
        "key": F("key"),
        "name": KeyTextTransform("name", source),
        "attributes": KeyTransform("attributes", source),
    }
    addressed, changed = Q(**{f"{source}__has_key": "email"}), ["name", "attributes"]
    same = ["pool_id", "key"]
    count = bulk.insert_from(Worker, columns, rows.exclude(addressed), same, changed)
    columns["mail_address"] = KeyTextTransform("email", source)
    return count + bulk.insert_from(
        Worker, columns, rows.filter(addressed), same, [*changed, "mail_address"]
    )


def _undo_workers(pool: Pool, upload: Upload) -> None:
    new = accepted_rows(upload).filter(fresh=True).values("key")
    imported = Worker.objects.filter(pool=pool, key__in=new)
    used = {"worker__in": imported.values("pk")}
    if any(rows.objects.filter(**used).exists() for rows in (Candidate, WatchedWorker)):
        raise Conflict(USED)
    imported._raw_delete("default")
    _store_workers(pool, accepted_rows(upload).filter(before__isnull=False), "before")


# -- questions


def _take_questions(question_set: QuestionSet, upload: Upload, outside: Outside) -> int:
    QuestionSet.objects.select_for_update().get(pk=question_set.pk)
    questions = Question.objects.filter(question_set=question_set)
    _mark_fresh(accepted_rows(upload), questions)
    keys = accepted_rows(upload).filter(fresh=False).values_list("key", flat=True)
    asked = catalog.question_keys_asked(question_set) & set(keys)  # since the file was validated
    if asked:
        raise Conflict(catalog.refuse_asked(min(asked)))
    last = questions.aggregate(last=Max("number"))["last"]
    following = 0 if last is None else last + 1
    in_order = Window(RowNumber(), order_by=["line", "pk"]) + Value(following - 1)
    new = _store_questions(question_set, accepted_rows(upload).filter(fresh=True), "data", in_order)
    return new + _change_questions(question_set, accepted_rows(upload).filter(fresh=False), "data")


def _store_questions(question_set: QuestionSet, rows: Rows, source: str, number: Any) -> int:
    columns = {
        "question_set_id": Value(question_set.pk),
        "key": F("key"),
        "number": number,
        "prompt": KeyTextTransform("prompt", source),
        **{name: KeyTransform(name, source) for name in STORED if name != "prompt"},
        "retired_why": Value(""),
    }
    return bulk.insert_from(
        Question, columns, rows, same=["question_set_id", "key"], changed=STORED
    )


def _change_questions(question_set: QuestionSet, rows: Rows, source: str) -> int:
    number = Question.objects.filter(question_set=question_set, key=OuterRef("key")).values(
        "number"
    )
    return _store_questions(question_set, rows, source, Subquery(number))


def _undo_questions(question_set: QuestionSet, upload: Upload) -> None:
    QuestionSet.objects.select_for_update().get(pk=question_set.pk)
    runs = Run.objects.filter(Q(question_set=question_set) | Q(further__question_set=question_set))
    answers = GoldAnswer.objects.filter(question__question_set=question_set)
    if upload.rows.filter(outside=True).exists():
        raise Conflict("The file corrected questions that had been asked: correct them by hand.")
    if runs.exclude(status=Run.Status.DRAFT).exists() or answers.exists():
        raise Conflict(USED)
    questions = Question.objects.filter(question_set=question_set)
    imported = questions.filter(key__in=accepted_rows(upload).filter(fresh=True).values("key"))
    first = imported.order_by("number").values_list("number", flat=True).first()
    if first is not None and questions.filter(number__gte=first).count() > imported.count():
        raise Conflict(
            "Questions were added after the questions of this file: the import cannot be undone."
        )
    imported._raw_delete("default")
    _change_questions(question_set, accepted_rows(upload).filter(before__isnull=False), "before")


# -- answers


def _take_answers(run: Run, upload: Upload, outside: Outside) -> int:
    """Record answers to outstanding assignments; the others wait until they are asked for."""
    # Locked, because a concurrent step could hand out the waiting answers a second time.
    refuse_ended(Run.objects.locked(run.pk) or run)
    rows = accepted_rows(upload, outside)
    refused = rejected_rows(upload, outside).filter(data__has_key=CLOSED)
    closed = [tuple(data[CLOSED]) for data in refused.values_list("data", flat=True)]
    outstanding = {f"{row.candidate_id}:{row.question_id}": row for row in _open_assignments(run)}
    answers: list[tuple[Assignment, str]] = []
    for keys in _chunk_keys(list(outstanding)):
        stored = rows.filter(key__in=keys).values_list("key", KeyTextTransform("response", "data"))
        answers += [(outstanding[key], response) for key, response in stored]
    counted = record_many(run, answers)
    asked = Assignment.objects.filter(
        candidate=OuterRef("of_candidate"), question=OuterRef("of_question")
    )
    unasked = rows.annotate(
        of_candidate=_number_column("candidate"), of_question=_number_column("question_id")
    )
    columns = {
        "candidate_id": F("of_candidate"),
        "question_id": F("of_question"),
        "response": KeyTextTransform("response", "data"),
    }
    late = unasked if run.selector_class.common_order else unasked.filter(Exists(asked))
    given = KeyTextTransform("response", "data")
    for key, response in late.annotate(given=given).values_list("key", "given"):
        if key not in outstanding:
            candidate, question = map(int, str(key).split(":"))
            closed.append((candidate, question, response))
    uncounted.note_rows(run, uncounted.FILE, closed)
    unasked = unasked.none() if run.selector_class.common_order else unasked.filter(~Exists(asked))
    if waiting := bulk.insert_from(RecordedAnswer, columns, unasked):
        Run.objects.filter(pk=run.pk).update(has_recorded=True)
    wakeups.request_step(run.pk)
    upload.rows.update(fresh=not counted)  # answers that count at once cannot be undone
    return counted + waiting


def _open_assignments(run: Run) -> list[Assignment]:
    asked = Assignment.objects.filter(candidate__run=run).answerable()
    return list(asked.select_related("question"))


def count_by_moment(upload: Upload, outside: Outside) -> tuple[int, int, int]:
    """Count the answers that would count at once, wait to be asked for, or wait in vain.

    An answer to a retired question waits in vain: it is asked for only if the question is restored.
    """
    run = target_of(upload)
    asked = Assignment.objects.filter(candidate__run=run).answerable().order_by()
    keys = [f"{c}:{q}" for c, q in asked.values_list("candidate_id", "question_id")]
    rows = accepted_rows(upload, outside)
    now = sum(rows.filter(key__in=part).count() for part in _chunk_keys(keys))
    sets = [skill.question_set_id for skill in run.skills]
    retired = Question.objects.filter(question_set__in=sets).exclude(retired=None)
    numbered = rows.annotate(of_question=_number_column("question_id"))
    retired_count = numbered.filter(of_question__in=retired).count()
    return now, rows.count() - now - retired_count, retired_count


def _undo_answers(run: Run, upload: Upload) -> None:
    Run.objects.locked(run.pk)  # against the engine, which takes waiting answers
    rows = upload.rows.exclude(key=None)
    candidate, question = Cast("candidate_id", CharField()), Cast("question_id", CharField())
    pair = Concat(candidate, Value(":"), question)
    waiting = RecordedAnswer.objects.filter(candidate__run=run).annotate(pair=pair)
    waiting = waiting.filter(Exists(rows.filter(key=OuterRef("pair"))))
    if rows.filter(fresh=False).exists() or waiting.count() < upload.accepted_rows:
        raise Conflict("The run has used answers of this file: the import cannot be undone.")
    RecordedAnswer.objects.filter(pk__in=waiting.values("pk"))._raw_delete("default")


def _chunk_keys(keys: Sequence[Any]) -> list[Sequence[Any]]:
    return [keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK)]


# -- gold answers of a watch


def _take_gold(watch: Watch, upload: Upload, outside: Outside) -> int:
    """Record the answers in the order of the lines; drop those that were sent meanwhile."""
    count = 0
    dropped: list[int] = []
    for pks, given in _read_gold(accepted_rows(upload, outside)):
        fates = gold.record_gold(watch, given, "wrong", uncounted.FILE)
        dropped += [pk for pk, fate in zip(pks, fates, strict=True) if fate.result != gold.ADDED]
        count += len(pks)
    for _, given in _read_gold(rejected_rows(upload, outside).filter(data__has_key="worker")):
        gold.note_uncounted(watch, given, outside, uncounted.FILE)
    upload.rows.filter(pk__in=dropped).delete()
    return count - len(dropped)


def _read_gold(rows: Rows) -> Iterator[tuple[list[int], list[gold.GivenGold]]]:
    """Yield the rows in the order of the lines, in chunks of numbers and answers."""
    stored = list(rows.order_by("line").values_list("pk", "data"))
    for part in _chunk_keys(stored):
        given = [[data[name] for name in ("worker", "question", "response")] for _, data in part]
        yield [pk for pk, _ in part], [gold.GivenGold(*row) for row in given]


def _undo_gold(watch: Watch, upload: Upload) -> None:
    """Delete the answers; the next step counts the others anew."""
    keys = upload.rows.exclude(key=None).values_list("key", flat=True)
    wanted = {tuple(map(int, key.split(":"))) for key in keys if key}
    watched = {pair[0] for pair in wanted}
    answers = GoldAnswer.objects.filter(watched__watch=watch, watched__in=watched)
    stored = answers.values_list("pk", "watched_id", "question_id")
    answers.filter(pk__in=[pk for pk, *pair in stored if tuple(pair) in wanted]).delete()
    steps.count_anew(watch, watched)


_TAKERS: dict[str, Callable[[Any, Upload, Outside], int]] = {
    Upload.Kind.WORKERS: _take_workers,
    Upload.Kind.QUESTIONS: _take_questions,
    Upload.Kind.ANSWERS: _take_answers,
    Upload.Kind.GOLD: _take_gold,
}
_UNDOERS: dict[str, Callable[[Any, Upload], None]] = {
    Upload.Kind.WORKERS: _undo_workers,
    Upload.Kind.QUESTIONS: _undo_questions,
    Upload.Kind.ANSWERS: _undo_answers,
    Upload.Kind.GOLD: _undo_gold,
}

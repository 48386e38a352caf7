"""Files of workers, questions or answers: upload, inspect, take, undo.

As on the pages, the file's layout and the meaning of its columns are recognised and can be
corrected. Nothing is stored before the file is taken, and for a while that can be undone.
"""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema

from selection.accounts import scoped
from selection.answers.recording import Outside
from selection.errors import Conflict, Refused
from selection.imports import column_plan, commit, uploads
from selection.imports.key_readings import ORDERS, READINGS
from selection.imports.readers import ENCODINGS
from selection.models import Pool, QuestionSet, Run, Upload, UploadedRow, Watch
from selection.questions import corrected_files
from selection.texts import counted

from .base import api, find_object, requester_name
from .fields import Amount, Id, Sent, Value, Yes
from .idempotency import idempotent
from .pagination import Page, paginate

Kind = Upload.Kind
State = Upload.State
KNOWN = "|".join(ENCODINGS)
# Internal ids of an imported answer, and workers' addresses, which no reply has.
INSIDE = {"line", "candidate", "watched", "question_id", "email"}


class FileOut(Schema):
    """An uploaded file.

    open: name its columns, which were not recognised; reading: ask again in a moment; ready: take
    it or put it aside; taken; failed: it is unreadable.
    """

    id: UUID
    kind: Literal["workers", "questions", "answers", "gold"]
    target_id: int = Field(description="Of the pool, question set, run or watch.", examples=[1])
    name: str = Field(examples=["workers.csv"])
    state: Literal["asking", "waiting", "working", "done", "taken", "failed"]
    layout: str = Field(
        description="The recognised layout; empty if the layout is unknown.",
        examples=["MTurk's worker file"],
    )
    format: str = Field(alias="what", examples=["CSV with ; in UTF-8"])
    columns: dict[str, str] = Field(
        description="The meaning of each column: a field, attribute, option, wrong choice or "
        "context, or “” for a column that is not read.",
        examples=[{"Worker ID": "worker", "Country": "attribute"}],
    )
    questions: dict[str, str] = Field(
        description="Of a survey: each column with answers, and the key of the column's question.",
        examples=[{"Is it a gull?": "gull"}],
    )
    reading: str = Field(description="How the answers name the choices; empty: found by itself.")
    comparison: str = Field(description="How typed answers are compared; empty: as they show.")
    readings: dict[str, list[str]] = Field(
        description="The readings that all answers allow, each with an answer and its choice.",
        examples=[{"numbers from 0": ["1", "Rome"], "numbers from 1": ["1", "Paris"]}],
    )
    remembered: bool = Field(description="True if the columns are read as in an earlier file.")
    header_line: int = Field(description="The line that names the columns; 0: the first line.")
    has_header: bool = Field(description="True if the first line names the columns.")
    percent: int = Field(description="Approximate progress of reading.")
    accepted_rows: int = Field(description="Number of rows to import, or of imported rows.")
    mismatched_rows: int = Field(
        alias="outside",
        description="Number of answers that are not among the choices, or of asked questions that "
        "differ.",
    )
    rejected_rows: int = Field(
        alias="bad", description="Rows with an error. The import leaves them out."
    )
    skipped_rows: int = Field(
        alias="passed", description="Unused rows, for example a worker's second row."
    )
    error: str = Field(description="Reason if the file cannot be read, or cannot be read yet.")
    created_at: datetime = Field(alias="created")


class ColumnsIn(Schema, extra="forbid"):
    """Omitted fields stay; omitted columns keep their recognised meaning."""

    columns: dict[str, str] = Field(
        {},
        max_length=1000,
        description="The meaning of each column: a field of the kind (docs/importing-data.md), "
        "attribute, option, wrong choice, context, or “” to ignore the column.",
        examples=[{"Arbeiter": "worker", "Land": "attribute"}],
    )
    questions: dict[str, str] = Field(
        {},
        max_length=1000,
        description="Of a survey: each column with answers, and the key or the text of the "
        "column's question; “” leaves a column out.",
        examples=[{"Frage 7": "gull"}],
    )
    encoding: str = Field(
        "", pattern=f"^({KNOWN})?$", description="Encoding of the file; “”: automatic."
    )
    reading: str | None = Field(
        None,
        max_length=20,
        description=f"How the answers name the choices: {', '.join(READINGS)}; or the order of "
        f"dates such as 3/4/2025: {', '.join(ORDERS)}.",
    )
    comparison: str | None = Field(
        None,
        max_length=40,
        description="How typed answers are compared, if their questions do not say it: text, "
        "number, money, percent, number with unit, date, time; “”: as their form shows.",
    )
    has_header: Yes = Field(True, description="True if the first line names the columns.")
    header_line: Amount | None = Field(
        None, description="The line that names the columns. The lines above are left out."
    )


class OutsideQuery(Page):
    on_mismatch: Outside = Field("refuse", description="The same value as for the import.")
    accepted: bool = Field(True, description="True: rows to import; false: rows with an error.")


class TakeIn(Schema, extra="forbid"):
    on_mismatch: Outside = Field(
        "refuse",
        description="Answers that are not among the choices are left out (refuse), or count as "
        "wrong (wrong). Questions that were asked and differ are left out (refuse), or corrected, "
        "and the answers to them graded again (correct).",
    )
    strict: Yes = Field(
        False, description="Import nothing and return 409 if any row would be left out."
    )


class FileRowOut(Schema):
    """A row of a file as it was parsed."""

    line: int = Field(description="Line in the file, counted from 1.")
    key: str = Field(
        description="Id of the worker or question; empty for an invalid id, and for answers."
    )
    values: dict[str, Value | list[str] | dict[str, Any]] = Field(
        description="Fields of the row; a worker's attributes by name.",
        examples=[{"name": "Anna", "attributes": {"country": "de"}}],
    )
    is_new: bool = Field(description="True if the key is new.")
    reason: str = Field(description="Reason if the row will not be imported.")


def _upload_payload(upload: Upload) -> dict[str, Any]:
    plan = column_plan.ColumnPlan(**upload.plan)
    columns = dict.fromkeys(filter(None, upload.header), "")
    for meaning, listed in column_plan.SEVERAL.get(plan.kind, {}).items():
        columns |= dict.fromkeys(getattr(plan, listed), meaning)
    columns |= {column: name for name, column in plan.fields.items()}
    names = ("name", "state", "what", "outside", "bad", "passed", "created", "kind")
    return {
        **{name: getattr(upload, name) for name in names},
        "id": upload.pk,
        "accepted_rows": upload.accepted_rows,
        "target_id": upload.subject,
        "layout": plan.title,
        "columns": columns,
        "questions": plan.questions,
        "reading": plan.reading,
        "comparison": plan.compared,
        "readings": plan.readings,
        "remembered": plan.remembered,
        "has_header": plan.headed,
        "header_line": plan.header,
        "percent": upload.percent if upload.going else 100,
        "error": upload.error or _missing_columns(upload),
    }


def _missing_columns(upload: Upload) -> str:
    try:
        uploads.refuse_missing_columns(upload)
    except Refused as refusal:
        return str(refusal)
    return ""


# -- sent


@api.post("/pools/{pool_id}/files", summary="Upload workers file")
@idempotent(FileOut)
def send_workers(request: HttpRequest, pool_id: Id, file: Sent) -> dict[str, Any]:
    """Upload a file of workers: Excel, CSV, TSV or JSON, at most 50 MB. Nothing is taken yet."""
    return store_file(Kind.WORKERS, find_object(request, Pool, pool_id), file)


@api.post("/question-sets/{set_id}/files", summary="Upload questions file")
@idempotent(FileOut)
def send_questions(request: HttpRequest, set_id: Id, file: Sent) -> dict[str, Any]:
    """Upload a file of gold questions: Excel, CSV, TSV or JSON, at most 50 MB."""
    return store_file(Kind.QUESTIONS, find_object(request, QuestionSet, set_id), file)


@api.post("/runs/{run_id}/files", summary="Upload answers file")
@idempotent(FileOut)
def send_answers(request: HttpRequest, run_id: Id, file: Sent) -> dict[str, Any]:
    """Upload a file of answers: Excel, CSV, TSV or JSON, at most 50 MB."""
    return store_file(Kind.ANSWERS, find_object(request, Run, run_id), file)


def store_file(kind: Kind, target: Pool | QuestionSet | Run | Watch, file: Sent) -> dict[str, Any]:
    uploads.refuse_large(file.name or "The file", file.size or 0)
    return _upload_payload(uploads.create_upload(kind, target, file.name or "file", file.read()))


# -- looked at


@api.get("/files/{file_id}", response=FileOut, summary="Show uploaded file")
def show_file(request: HttpRequest, file_id: UUID) -> dict[str, Any]:
    """Return a file's progress and counts. It is kept for a day, for a week once it is taken."""
    return _upload_payload(_find_upload(request, file_id))


@api.get("/files/{file_id}/rows", response=list[FileRowOut])
def list_file_rows(
    request: HttpRequest, response: HttpResponse, file_id: UUID, query: Query[OutsideQuery]
) -> list[dict[str, Any]]:
    """Return the rows parsed so far: those that will be taken, or the others."""
    select = commit.accepted_rows if query.accepted else commit.rejected_rows
    rows = select(_find_upload(request, file_id), query.on_mismatch)
    return [_row_payload(row) for row in paginate(request, response, rows, query)]


def _row_payload(row: UploadedRow) -> dict[str, Any]:
    answers = not row.data.keys().isdisjoint({"candidate", "watched"})
    return {
        "line": row.line,
        "key": "" if answers else row.key or "",
        "values": {name: value for name, value in row.data.items() if name not in INSIDE},
        "is_new": row.fresh,
        "reason": row.why,
    }


@api.patch("/files/{file_id}", response=FileOut, summary="Assign file columns")
def name_file_columns(request: HttpRequest, file_id: UUID, payload: ColumnsIn) -> dict[str, Any]:
    """Name the columns and read the file again; later files with such columns are read alike."""
    upload = _find_upload(request, file_id)
    if upload.state == State.TAKEN:
        raise Conflict("This file is taken already.")
    if payload.header_line:
        uploads.begin_at(upload, payload.header_line, payload.encoding, at_once=False)
    columns, questions = list(payload.columns.items()), list(payload.questions.items())
    uploads.choose_columns(
        upload,
        columns,
        questions,
        payload.encoding,
        payload.has_header,
        reading=payload.reading,
        compared=payload.comparison,
    )
    return show_file(request, file_id)


# -- taken


@api.post("/files/{file_id}/take", response=FileOut, summary="Import uploaded file")
def take_file(request: HttpRequest, file_id: UUID, payload: TakeIn) -> dict[str, Any]:
    """Take all good rows at once. Repeating it changes nothing; 409 while it is being read."""
    upload = _find_upload(request, file_id)
    if upload.state == State.TAKEN:
        return _upload_payload(upload)
    if upload.state != State.DONE:
        raise Conflict(
            _upload_payload(upload)["error"] or f"{upload} is still being read: ask again."
        )
    rejects = commit.rejected_rows(upload, payload.on_mismatch).count() if payload.strict else 0
    if rejects:
        raise Conflict(f"Nothing was taken: {counted(rejects, 'row')} would be left out.")
    corrected_files.commit_file(upload, payload.on_mismatch, requester_name(request))
    return show_file(request, file_id)


@api.post("/files/{file_id}/undo", summary="Undo file import")
def undo_file(request: HttpRequest, file_id: UUID) -> None:
    """Restore the state from before the file was taken; 409 if a run uses its rows."""
    upload = _find_upload(request, file_id)
    if upload.state != State.TAKEN:
        raise Conflict("This file was not taken: there is nothing to undo.")
    commit.undo_import(upload.pk)


@api.delete("/files/{file_id}", summary="Discard uploaded file")
def discard_file(request: HttpRequest, file_id: UUID) -> None:
    """Stop reading a file and delete it; 409 if it is taken: undo it instead."""
    upload = _find_upload(request, file_id)
    if upload.state == State.TAKEN:
        raise Conflict("This file is taken: undo it, or leave it.")
    uploads.discard_upload(upload)


def _find_upload(request: HttpRequest, pk: UUID) -> Upload:
    upload: Upload = get_object_or_404(scoped(Upload, request).defer("content"), pk=pk)
    return upload

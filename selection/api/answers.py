"""Assignments and answers."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Status

from selection import audit, reports
from selection.accounts import scoped
from selection.answers import batch, presence, recording
from selection.errors import Conflict, Refused
from selection.imports import validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.models import Run, stored_spellings
from selection.worker.page import idle_state

from .base import ERRORS, Scope, Token, api
from .fields import Id
from .pagination import NEXT, cut_page, parse_cursor
from .schemas import (
    AnswersIn,
    AssignmentOut,
    BatchIn,
    BatchOut,
    ClaimIn,
    ClaimOut,
    OpenQuery,
    ReceiptOut,
    ResponseIn,
    TakenOut,
)


@api.get(
    "/runs/{run_id}/assignments",
    response={200: list[AssignmentOut], **ERRORS},
    tags=["answers"],
    auth=Token(Scope.READ, Scope.ANSWER),
    openapi_extra=NEXT,
)
def list_open(
    request: HttpRequest, response: HttpResponse, run_id: Id, query: Query[OpenQuery]
) -> list[dict[str, Any]]:
    """Open assignments, oldest first.

    Fetching a question is showing it: from then its time to answer runs, unless you only peek. A
    token that may only read always peeks.
    """
    run = get_object_or_404(scoped(Run, request), pk=run_id)
    peek = query.peek or request.auth.scope == Scope.READ  # type: ignore[attr-defined]
    if query.worker and not peek:
        own = run.candidates.filter(worker__key__in=stored_spellings([query.worker]))
        presence.note_presence(run, list(own.values_list("pk", flat=True)))
    after = parse_cursor(query.cursor) if query.cursor else query.after
    found = reports.open_assignments(run, query.worker, query.limit + 1, after)
    found = cut_page(request, response, found, query.limit, lambda row: row["id"])
    return found if peek else _claimed_assignments(run, query.worker, found, after)


def _claimed_assignments(
    run: Run, worker: str | None, found: list[dict[str, Any]], after: int = 0
) -> list[dict[str, Any]]:
    """These open assignments with their times to answer, which run from now where they did not."""
    if all(row["due"] for row in found):
        return found
    presence.record_shown(run, [row["id"] for row in found])
    return reports.open_assignments(run, worker, len(found), after)


@api.post(
    "/runs/{run_id}/claims",
    response={200: list[ClaimOut], **ERRORS},
    tags=["answers"],
    auth=Token(Scope.ANSWER),
)
def claim(request: HttpRequest, run_id: Id, payload: ClaimIn) -> list[dict[str, Any]]:
    """Workers are there: what each has to answer now. Their time to answer runs from here.

    Asking again gives the same questions until they are answered.
    """
    run = get_object_or_404(scoped(Run, request), pk=run_id)
    if run.status == Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has not begun: nothing is handed out yet.")
    return [
        _claim_for_worker(run, worker, payload.each) for worker in dict.fromkeys(payload.workers)
    ]


def _claim_for_worker(run: Run, worker: str, each: int) -> dict[str, Any]:
    own = list(run.candidates.filter(worker__key__in=stored_spellings([worker])))
    if not own or run.status == Run.Status.ENDED:
        state = "over" if own else "unknown"
        return {"worker": worker, "state": state, "assignments": []}
    presence.note_presence(run, [one.pk for one in own], own[0].seen)
    found = _claimed_assignments(run, worker, reports.open_assignments(run, worker, each, 0))
    state = "question" if found else idle_state(run, own)
    return {"worker": worker, "state": state, "assignments": found}


@api.post(
    "/assignments/{assignment_id}/answer",
    response={200: ReceiptOut, 201: ReceiptOut, **ERRORS},
    tags=["answers"],
    auth=Token(Scope.ANSWER),
)
def answer(request: HttpRequest, assignment_id: Id, payload: ResponseIn) -> Status[Any]:
    """Record a worker's response. Sending it again changes nothing and answers 200; a second and
    different one is 409, as is one that is too late. One to a question that was retired meanwhile
    is 200 and not kept.

    A response that is none of the choices is refused with 422 and the list of them.
    """
    team = request.auth.team_id  # type: ignore[attr-defined]
    receipt = recording.record_answer(assignment_id, payload.response, team_id=team)
    return Status(200 if receipt.duplicate else 201, vars(receipt))


@api.post(
    "/answers",
    response={200: BatchOut, **ERRORS},
    tags=["answers"],
    auth=Token(Scope.ANSWER),
)
def answer_many(request: HttpRequest, payload: BatchIn) -> dict[str, Any]:
    """Record up to 1,000 responses, of any runs: each is taken or refused by itself."""
    sent = [(one.assignment, one.response) for one in payload.answers]
    results = batch.record_batch(sent, request.auth.team_id)  # type: ignore[attr-defined]
    rows = [_result_payload(pk, result) for (pk, _), result in zip(sent, results, strict=True)]
    return {"taken": sum(row["status"] == 201 for row in rows), "results": rows}


def _result_payload(assignment: int, result: recording.Receipt | Refused) -> dict[str, Any]:
    if isinstance(result, Refused):
        return {"assignment": assignment, "status": result.status, "error": str(result)}
    status = 200 if result.duplicate else 201
    return {"assignment": assignment, "status": status, "kept": result.kept}


@api.post("/runs/{run_id}/answers", response={200: TakenOut, **ERRORS}, tags=["answers"])
def import_answers(request: HttpRequest, run_id: Id, payload: AnswersIn) -> dict[str, Any]:
    """Record answers made elsewhere; rows are counted from 1, bad ones are named.

    Of several answers of one worker to one question the first counts.
    """
    run = get_object_or_404(scoped(Run, request), pk=run_id)
    rows = [AnswerRow(line, **row.dict()) for line, row in enumerate(payload.answers, 1)]
    sorting = validate_answers.validate_answers(run, rows, payload.outside)
    validate_answers.record_valid_answers(run, sorting)
    audit.record_entry("import", run, after={"answers": sorting.valid_count})
    return {
        "now": len(sorting.answers),
        "waiting": len(sorting.recorded),
        "problems": [{"row": bad.line, "why": bad.why} for bad in sorting.problems],
    }

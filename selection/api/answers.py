"""Assignments and answers."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Status

from selection import audit, reports
from selection.answers import batch, presence, recording, uncounted
from selection.errors import Conflict, Refused
from selection.imports import validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.models import Run
from selection.worker.page import idle_state

from .base import Scope, Token, api, find_object
from .fields import Id
from .pagination import cut_page, parse_cursor
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
    response=list[AssignmentOut],
    auth=Token(Scope.READ, Scope.ANSWER),
    summary="List open assignments",
)
def list_assignments(
    request: HttpRequest, response: HttpResponse, run_id: Id, query: Query[OpenQuery]
) -> list[dict[str, Any]]:
    """Return open assignments, oldest first.

    Fetching a question starts its time to answer, unless ``peek`` is set. A token with the scope to
    read always peeks.
    """
    run = find_object(request, Run, run_id)
    peek = query.peek or request.auth.scope == Scope.READ  # type: ignore[attr-defined]
    if query.worker and not peek:
        candidates = run.candidates.filter(worker__key=query.worker)
        presence.note_presence(run, list(candidates.values_list("pk", flat=True)))
    after = parse_cursor(query.cursor) if query.cursor else query.after_id
    rows = reports.open_assignments(run, query.worker, query.limit + 1, after)
    rows = cut_page(request, response, rows, query.limit, lambda row: row["id"])
    if peek:  # nobody sees whether they are shown elsewhere
        presence.record_handed([row["id"] for row in rows])
        return rows
    return _claimed_assignments(run, query.worker, rows, after)


def _claimed_assignments(
    run: Run, worker: str | None, rows: list[dict[str, Any]], after: int = 0
) -> list[dict[str, Any]]:
    if all(row["due"] for row in rows):
        return rows
    presence.record_shown(run, [row["id"] for row in rows])
    return reports.open_assignments(run, worker, len(rows), after)


@api.post(
    "/runs/{run_id}/claims",
    response=list[ClaimOut],
    auth=Token(Scope.ANSWER),
)
def claim_assignments(request: HttpRequest, run_id: Id, payload: ClaimIn) -> list[dict[str, Any]]:
    """Return the open questions of workers that are present now; their time to answer starts.

    Repeated requests return the same questions until they are answered.
    """
    run = find_object(request, Run, run_id)
    if run.status == Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has not begun: nothing is handed out yet.")
    return [
        _claim_for_worker(run, worker, payload.questions_per_worker)
        for worker in dict.fromkeys(payload.workers)
    ]


def _claim_for_worker(run: Run, worker: str, limit: int) -> dict[str, Any]:
    candidates = list(run.candidates.filter(worker__key=worker))
    if not candidates or run.status == Run.Status.ENDED:
        state = "over" if candidates else "unknown"
        return {"worker": worker, "state": state, "assignments": []}
    presence.note_presence(run, [candidate.pk for candidate in candidates], candidates[0].seen)
    assignments = _claimed_assignments(run, worker, reports.open_assignments(run, worker, limit, 0))
    state = "question" if assignments else idle_state(run, candidates)
    return {"worker": worker, "state": state, "assignments": assignments}


@api.post(
    "/assignments/{assignment_id}/answer",
    response={200: ReceiptOut, 201: ReceiptOut},
    auth=Token(Scope.ANSWER),
)
def record_answer(request: HttpRequest, assignment_id: Id, payload: ResponseIn) -> Status[Any]:
    """Record a worker's response.

    Repeating it changes nothing and returns 200; a different second response returns 409, and so
    does a late one. A response to a question retired since returns 200 and is not kept. A response
    outside the choices is refused with 422 and the list of choices.
    """
    team = request.auth.team_id  # type: ignore[attr-defined]
    receipt = recording.record_answer(
        assignment_id, payload.response, team_id=team, door=uncounted.API
    )
    return Status(200 if receipt.duplicate else 201, vars(receipt))


@api.post("/answers", response=BatchOut, auth=Token(Scope.ANSWER))
def record_answers(request: HttpRequest, payload: BatchIn) -> dict[str, Any]:
    """Record up to 1,000 responses of any runs; each is accepted or refused separately."""
    responses = [(item.assignment, item.response) for item in payload.answers]
    results = batch.record_batch(responses, request.auth.team_id)  # type: ignore[attr-defined]
    rows = [_result_payload(pk, result) for (pk, _), result in zip(responses, results, strict=True)]
    return {"new_answers": sum(row["status"] == 201 for row in rows), "results": rows}


def _result_payload(assignment: int, result: recording.Receipt | Refused) -> dict[str, Any]:
    if isinstance(result, Refused):
        return {"assignment": assignment, "status": result.status, "error": str(result)}
    status = 200 if result.duplicate else 201
    return {"assignment": assignment, "status": status, "kept": result.kept}


@api.post("/runs/{run_id}/answers", response=TakenOut)
def import_answers(request: HttpRequest, run_id: Id, payload: AnswersIn) -> dict[str, Any]:
    """Import answers made elsewhere; rows are counted from 1, and bad ones are listed.

    Of several answers of a worker to the same question the first counts.
    """
    run = find_object(request, Run, run_id)
    rows = [AnswerRow(line, **row.dict()) for line, row in enumerate(payload.answers, 1)]
    sorting = validate_answers.validate_answers(run, rows, payload.on_mismatch)
    validate_answers.record_valid_answers(run, sorting)
    audit.record_entry("import", run, after={"answers": sorting.valid_count})
    return {
        "recorded_answers": len(sorting.answers),
        "waiting_answers": len(sorting.recorded),
        "problems": [{"row": bad.line, "why": bad.why} for bad in sorting.problems],
    }

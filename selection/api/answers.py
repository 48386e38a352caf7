"""Assignments and answers."""

from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Status

from selection import audit, intake, reports
from selection.access import scoped
from selection.intake import presence
from selection.intake.files import AnswerRow
from selection.models import Run

from .base import ERRORS, Scope, Token, api
from .schemas import AnswersIn, AssignmentOut, OpenQuery, ReceiptOut, ResponseIn, TakenOut


@api.get(
    "/runs/{run_id}/assignments",
    response={200: list[AssignmentOut], **ERRORS},
    tags=["answers"],
    auth=Token(Scope.READ, Scope.ANSWER),
)
def list_open(request: HttpRequest, run_id: int, query: Query[OpenQuery]) -> list[dict[str, Any]]:
    """Open assignments, oldest first; page on with ``after``.

    Fetching a question is showing it: from then its time to answer runs, unless you only peek. A
    token that may only read always peeks.
    """
    run = get_object_or_404(scoped(Run, request), pk=run_id)
    peek = query.peek or request.auth.scope == Scope.READ  # type: ignore[attr-defined]
    if query.worker and not peek:
        own = run.candidates.filter(worker__key=query.worker)
        presence.note(run, list(own.values_list("pk", flat=True)))
    found = reports.open_assignments(run, query.worker, query.limit, query.after)
    if peek or not any(row["due"] is None for row in found):
        return found
    presence.show(run, [row["id"] for row in found])
    return reports.open_assignments(run, query.worker, query.limit, query.after)


@api.post(
    "/assignments/{assignment_id}/answer",
    response={200: ReceiptOut, 201: ReceiptOut, **ERRORS},
    tags=["answers"],
    auth=Token(Scope.ANSWER),
)
def answer(request: HttpRequest, assignment_id: int, payload: ResponseIn) -> Status[Any]:
    """Record a worker's response. Sending it again changes nothing and answers 200.

    A response that is none of the choices is refused with 422 and the list of them.
    """
    team = request.auth.team_id  # type: ignore[attr-defined]
    receipt = intake.record(assignment_id, payload.response, team_id=team)
    return Status(200 if receipt.duplicate else 201, vars(receipt))


@api.post("/runs/{run_id}/answers", response={200: TakenOut, **ERRORS}, tags=["answers"])
def import_answers(request: HttpRequest, run_id: int, payload: AnswersIn) -> dict[str, Any]:
    """Record answers made elsewhere; rows are counted from 1, bad ones are named.

    Of several answers of one worker to one question the first counts.
    """
    run = get_object_or_404(scoped(Run, request), pk=run_id)
    rows = [AnswerRow(line, **row.dict()) for line, row in enumerate(payload.answers, 1)]
    sorting = intake.sort(run, rows, payload.outside)
    intake.take(run, sorting)
    audit.note("import", run, after={"answers": sorting.taken})
    return {
        "now": len(sorting.answers),
        "waiting": len(sorting.recorded),
        "problems": [{"row": bad.line, "why": bad.why} for bad in sorting.problems],
    }

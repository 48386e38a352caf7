"""The JSON API: parse, call one of runs / intake / reports, answer. Errors are one line of text."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, NinjaAPI, Query, Schema, Status
from ninja.errors import AuthenticationError, ValidationError
from ninja.security import HttpBearer

from selection.intake import presence
from selection.intake.files import AnswerRow

from . import intake, reports
from .errors import Refused
from .models import ApiToken, Run
from .setup import priors, runs

_NAMES = ApiToken.objects.values_list("name", flat=True).order_by()


class Token(HttpBearer):
    def authenticate(self, request: HttpRequest, token: str) -> str | None:
        """The name of the token, if it is a valid one."""
        return next(iter(_NAMES.filter(digest=ApiToken.digest_of(token))), None)


api = NinjaAPI(
    title="CrowdSelect",
    description="Hand out gold questions, record answers, follow a run, fetch the selection.",
    version="1",
    auth=Token(),
)


# -- what goes over the wire


class ErrorOut(Schema):
    error: str


class SkillOut(Schema):
    """A question set that workers are tested on, and how many are selected by it."""

    skill: str
    k: int


class NeedOut(Schema):
    """kind: stuck, gold, quiet, joins, paused, fit or review."""

    kind: str
    words: str


class RunOut(Schema):
    id: int
    name: str
    status: str
    state: str = Field(
        description="By what is to be done next: draft, enrolling, running, paused, ready for "
        "review, concluded."
    )
    ending: str
    algorithm: str
    k: int
    epsilon: float
    delta: float
    budget: int | None
    seed: int
    options: dict[str, Any]
    learned_from: dict[str, Any] | None = Field(
        description="The earlier run that this one starts from, and how much that weighs."
    )
    quotas: dict[str, Any]
    skills: list[SkillOut]
    promise: str
    epsilon_reached: float | None = Field(
        description="The ε of the promise that holds by now, or held at the end."
    )
    warnings: list[str] = Field(description="What makes the promise doubtful for this pool.")
    population: dict[str, float] | None = Field(
        description="As fitted to the pool: mean and spread of the accuracies, the border that K "
        "workers are expected to exceed, the p-value of the check."
    )
    progress: dict[str, Any]
    needs: list[NeedOut] = Field(description="What a person should see to; mostly nothing.")


class AssignmentOut(Schema):
    """A question to answer. It never carries the correct answer."""

    id: int
    worker: str
    skill: str
    question: str
    prompt: str
    choices: list[str]
    due: datetime | None = Field(
        description="When time is up; it runs from when this question was first fetched."
    )


class OpenQuery(Schema):
    worker: str | None = Field(None, description="Only this worker's.")
    limit: int = Field(100, ge=1, le=1000)
    after: int = Field(0, ge=0, description="Only assignments with a greater id.")
    peek: bool = Field(False, description="Only look: nobody's time to answer begins.")


class ResponseIn(Schema):
    response: str


class ReceiptOut(Schema):
    assignment: int
    duplicate: bool


class AnswerIn(Schema):
    worker: str
    question: str
    response: str
    skill: str = Field("", description="Needed where several skills have such a question.")


class AnswersIn(Schema):
    answers: list[AnswerIn] = Field(max_length=100_000)
    outside: Literal["refuse", "wrong"] = Field(
        "refuse",
        description="What becomes of an answer that is none of the question's choices: named among "
        "the problems, or counted as wrong.",
    )


class ProblemOut(Schema):
    row: int
    why: str


class TakenOut(Schema):
    """now: answered an open assignment; waiting: kept until the algorithm asks for it."""

    now: int
    waiting: int
    problems: list[ProblemOut]


# -- errors


@api.exception_handler(Refused)
def refused(request: HttpRequest, error: Refused) -> HttpResponse:
    return api.create_response(request, {"error": str(error)}, status=error.status)


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return api.create_response(request, {"error": "There is nothing of this id."}, status=404)


@api.exception_handler(AuthenticationError)
def unauthorized(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    message = "Send a valid API token in the header Authorization: Bearer <token>."
    return api.create_response(request, {"error": message}, status=401)


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    first = error.errors[0]
    where = ".".join(str(part) for part in first["loc"][1:] if part != "payload")
    message = f"{where}: {first['msg']}." if where else f"{first['msg']}."
    return api.create_response(request, {"error": message}, status=422)


ERRORS = {(401, 404, 409, 422): ErrorOut}


# -- runs


@api.get("/runs/{run_id}", response={200: RunOut, **ERRORS}, tags=["runs"])
def show_run(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """How a run stands."""
    run = get_object_or_404(Run, pk=run_id)
    fit, promised = reports.fit(run), reports.promise_status(run)
    return {
        **{field: getattr(run, field) for field in RunOut.model_fields if hasattr(run, field)},
        "options": run.hand_set,
        "learned_from": priors.as_numbers(run),
        "skills": [{"skill": str(skill), "k": skill.k} for skill in run.skills],
        "promise": promised.sentence,
        "epsilon_reached": promised.epsilon,
        "warnings": list(fit.warnings),
        "population": fit.numbers(),
        "progress": vars(reports.progress(run)),
        "needs": [vars(need) for need in reports.needs(run, fit)],
    }


MOVES: dict[str, Callable[[Run], None]] = {
    "start": runs.start,
    "pause": runs.pause,
    "resume": runs.resume,
    "stop": runs.stop,
}


@api.post("/runs/{run_id}/moves/{move}", response={200: RunOut, **ERRORS}, tags=["runs"])
def move_run(
    request: HttpRequest, run_id: int, move: Literal["start", "pause", "resume", "stop"]
) -> dict[str, Any]:
    """Start, pause, resume or stop a run."""
    MOVES[move](get_object_or_404(Run, pk=run_id))
    return show_run(request, run_id)


@api.get("/runs/{run_id}/standings", response={200: list[dict[str, Any]], **ERRORS}, tags=["runs"])
def show_standings(request: HttpRequest, run_id: int) -> list[dict[str, Any]]:
    """Every worker's answers, mean, bounds and verdict."""
    return [vars(line) for line in reports.standings(get_object_or_404(Run, pk=run_id))]


@api.get("/runs/{run_id}/selection", response={200: dict[str, Any], **ERRORS}, tags=["runs"])
def show_selection(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """The workers selected, with the run's parameters and what it promises."""
    return reports.export(get_object_or_404(Run, pk=run_id))


# -- assignments and answers


@api.get(
    "/runs/{run_id}/assignments", response={200: list[AssignmentOut], **ERRORS}, tags=["answers"]
)
def list_open(request: HttpRequest, run_id: int, query: Query[OpenQuery]) -> list[dict[str, Any]]:
    """Open assignments, oldest first; page on with ``after``.

    Fetching a question is showing it: from then its time to answer runs, unless you only peek.
    """
    run = get_object_or_404(Run, pk=run_id)
    if query.worker and not query.peek:
        own = run.candidates.filter(worker__key=query.worker)
        presence.note(run, list(own.values_list("pk", flat=True)))
    found = reports.open_assignments(run, query.worker, query.limit, query.after)
    if query.peek or not any(row["due"] is None for row in found):
        return found
    presence.show(run, [row["id"] for row in found])
    return reports.open_assignments(run, query.worker, query.limit, query.after)


@api.post(
    "/assignments/{assignment_id}/answer",
    response={200: ReceiptOut, 201: ReceiptOut, **ERRORS},
    tags=["answers"],
)
def answer(request: HttpRequest, assignment_id: int, payload: ResponseIn) -> Status[Any]:
    """Record a worker's response. Sending it again changes nothing and answers 200.

    A response that is none of the choices is refused with 422 and the list of them.
    """
    receipt = intake.record(assignment_id, payload.response)
    return Status(200 if receipt.duplicate else 201, vars(receipt))


@api.post("/runs/{run_id}/answers", response={200: TakenOut, **ERRORS}, tags=["answers"])
def import_answers(request: HttpRequest, run_id: int, payload: AnswersIn) -> dict[str, Any]:
    """Record answers made elsewhere; rows are counted from 1, bad ones are named.

    Of several answers of one worker to one question the first counts.
    """
    run = get_object_or_404(Run, pk=run_id)
    rows = [AnswerRow(line, **row.dict()) for line, row in enumerate(payload.answers, 1)]
    sorting = intake.sort(run, rows, payload.outside)
    intake.take(run, sorting)
    return {
        "now": len(sorting.answers),
        "waiting": len(sorting.recorded),
        "problems": [{"row": bad.line, "why": bad.why} for bad in sorting.problems],
    }

"""The JSON API: parse, call one of runs / intake / reports, answer. Errors are one line of text."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, NinjaAPI, Query, Schema, Status
from ninja.errors import AuthenticationError, ValidationError
from ninja.security import HttpBearer

from selection.intake import presence
from selection.intake.files import AnswerRow

from . import intake, reports
from .errors import Refused
from .models import ApiToken, Candidate, Run
from .setup import by_hand, changes, enrolment, previews, priors, roster, runs
from .worker import links

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
    slots: int
    slots_per_worker: int
    minutes: int
    hours_to_come: float | None
    enrolling: bool = Field(description="Whether workers may join.")
    enrol_until: datetime | None
    enrol_most: int | None
    seed: int
    options: dict[str, Any]
    learned_from: dict[str, Any] | None = Field(
        description="The earlier run that this one starts from, and how much that weighs."
    )
    quotas: dict[str, Any]
    skills: list[SkillOut]
    promise: str
    over: str = Field(description="Whom the promise is about, where that is not the whole pool.")
    by_hand: str = Field(description="What verdicts by hand do to the promise.")
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


class ChangeIn(Schema):
    """The settings to change; those that are left out stay."""

    name: str | None = None
    budget: int | None = Field(None, description="null: no limit.")
    slots: int | None = None
    slots_per_worker: int | None = None
    minutes: int | None = None
    hours_to_come: float | None = Field(None, description="null: everybody is waited for.")
    epsilon: float | None = None
    enrol_until: datetime | None = None
    enrol_most: int | None = None
    enrolling: bool | None = Field(None, description="Open or close the roster.")
    concluded: bool | None = Field(None, description="Put an ended run aside, or take it up.")
    why: str = Field("", max_length=300, description="Kept in the run's history.")
    preview: bool = Field(False, description="Only say what it would do.")


class ChangedOut(Schema):
    changed: dict[str, str] = Field(description="What each setting does to the promise, in words.")
    run: RunOut


class WhyIn(Schema):
    why: str = Field("", max_length=300, description="Kept in the run's history.")


class VerdictIn(WhyIn):
    verdict: Literal["accepted", "rejected"] | None = Field(
        description="null takes a verdict by hand back; others need a reason."
    )


class WorkerIn(Schema):
    worker: str
    name: str = ""
    attributes: dict[str, str] = {}


class WorkerOut(Schema):
    """A worker of a run."""

    worker: str
    name: str
    presence: str = Field(description="invited, active, never came, left or withdrawn.")
    seen: datetime | None
    by_hand: str
    link: str


class EventOut(Schema):
    at: datetime
    who: str
    kind: str
    what: str
    why: str
    step: int


class StepOut(Schema):
    number: int
    at: datetime
    applied: int
    dealt: int
    accepted: int
    rejected: int
    gap: float


class HistoryOut(Schema):
    """What people did, newest first, and the engine's steps, thinned to at most 200."""

    events: list[EventOut]
    steps: list[StepOut]


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


def who(request: HttpRequest) -> str:
    """Who asked, for a run's history."""
    return f"token {request.auth}"  # type: ignore[attr-defined]


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
        "over": promised.over,
        "by_hand": promised.by_hand,
        "epsilon_reached": promised.epsilon,
        "warnings": list(fit.warnings),
        "population": fit.numbers(),
        "progress": vars(reports.progress(run)),
        "needs": [vars(need) for need in reports.needs(run, fit)],
    }


MOVES: dict[str, Callable[[Run, str], None]] = {
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
    MOVES[move](get_object_or_404(Run, pk=run_id), who(request))
    return show_run(request, run_id)


@api.get("/runs/{run_id}/standings", response={200: list[dict[str, Any]], **ERRORS}, tags=["runs"])
def show_standings(request: HttpRequest, run_id: int) -> list[dict[str, Any]]:
    """Every worker's answers, mean, bounds and verdict."""
    return [vars(line) for line in reports.standings(get_object_or_404(Run, pk=run_id))]


@api.get("/runs/{run_id}/selection", response={200: dict[str, Any], **ERRORS}, tags=["runs"])
def show_selection(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """The workers selected, with the run's parameters and what it promises."""
    return reports.export(get_object_or_404(Run, pk=run_id))


# -- changing a run, and who takes part


@api.patch("/runs/{run_id}", response={200: ChangedOut, **ERRORS}, tags=["runs"])
def change_run(request: HttpRequest, run_id: int, payload: ChangeIn) -> dict[str, Any]:
    """Change a run that has started: all of what is asked, or nothing."""
    run = get_object_or_404(Run, pk=run_id)
    given = payload.dict(exclude_unset=True)
    moves: dict[str, bool] = {
        name: given.pop(name) for name in ("enrolling", "concluded") if name in given
    }
    why, preview = given.pop("why", ""), given.pop("preview", False)
    with transaction.atomic():
        changed = changes.apply(run, given, who(request), why) if given else {}
        changed |= _moved(run, moves, who(request), why)
        if preview:
            transaction.set_rollback(True)
    return {"changed": changed, "run": show_run(request, run_id)}


def _moved(run: Run, moves: dict[str, bool], by: str, why: str) -> dict[str, str]:
    """Open or close the roster, put aside or take up, where that is not so already."""
    run.refresh_from_db()
    said = {}
    if "enrolling" in moves and moves["enrolling"] != run.enrolling:
        opens = moves["enrolling"]
        said["enrolling"] = (previews.open_roster if opens else previews.close_roster)(run)
        (roster.open_roster if opens else roster.close_roster)(run, by, why)
    if "concluded" in moves and moves["concluded"] != bool(run.concluded):
        (runs.conclude if moves["concluded"] else runs.take_up)(run, by, why)
        said["concluded"] = "The promise stays as it is."
    return said


@api.get("/runs/{run_id}/history", response={200: HistoryOut, **ERRORS}, tags=["runs"])
def show_history(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """What was done to a run by whom, and its steps."""
    run = get_object_or_404(Run, pk=run_id)
    steps = [
        {name: getattr(step, name) for name in StepOut.model_fields}
        for step in reports.history(run)
    ]
    events = [
        {name: getattr(event, name) for name in EventOut.model_fields} for event in run.events.all()
    ]
    return {"events": events, "steps": steps}


@api.get("/runs/{run_id}/workers", response={200: list[WorkerOut], **ERRORS}, tags=["workers"])
def list_workers(request: HttpRequest, run_id: int) -> list[dict[str, Any]]:
    """Every worker of a run, with whether they are there and the link to their page."""
    run = get_object_or_404(Run, pk=run_id)
    rows = run.candidates.filter(skill=0).select_related("worker").order_by("worker__key")
    return [_worker(row) for row in rows]


@api.post(
    "/runs/{run_id}/workers",
    response={200: WorkerOut, 201: WorkerOut, **ERRORS},
    tags=["workers"],
)
def join_run(request: HttpRequest, run_id: int, payload: WorkerIn) -> Status[Any]:
    """Let a worker join an open roster; 200 for one who is on it, 409 when it is closed."""
    run = get_object_or_404(Run, pk=run_id)
    row, new = enrolment.arrive(run, payload.worker, payload.name, payload.attributes)
    return Status(201 if new else 200, _worker(row))


@api.post(
    "/runs/{run_id}/workers/{path:worker}/withdraw",
    response={200: WorkerOut, **ERRORS},
    tags=["workers"],
)
def withdraw(request: HttpRequest, run_id: int, worker: str, payload: WhyIn) -> dict[str, Any]:
    """Take a worker out of a run."""
    run = get_object_or_404(Run, pk=run_id)
    roster.withdraw(run, [worker], who(request), payload.why)
    return _worker(_candidate(run, worker))


@api.post(
    "/runs/{run_id}/workers/{path:worker}/return",
    response={200: WorkerOut, **ERRORS},
    tags=["workers"],
)
def take_back(request: HttpRequest, run_id: int, worker: str, payload: WhyIn) -> dict[str, Any]:
    """Let a worker who is gone take part again."""
    run = get_object_or_404(Run, pk=run_id)
    roster.take_back(run, [worker], who(request), payload.why)
    return _worker(_candidate(run, worker))


@api.post(
    "/runs/{run_id}/workers/{path:worker}/verdict",
    response={200: WorkerOut, **ERRORS},
    tags=["workers"],
)
def give_verdict(
    request: HttpRequest, run_id: int, worker: str, payload: VerdictIn
) -> dict[str, Any]:
    """Accept or reject a worker by hand, beside what the algorithm says; in its first skill."""
    row = _candidate(get_object_or_404(Run, pk=run_id), worker)
    verdict = {"accepted": 1, "rejected": -1, None: None}[payload.verdict]
    by_hand.override(row, verdict, who(request), payload.why)
    return _worker(row)


def _candidate(run: Run, worker: str) -> Candidate:
    rows = run.candidates.select_related("worker", "run")
    return get_object_or_404(rows, worker__key=worker, skill=0)


def _worker(row: Candidate) -> dict[str, Any]:
    return {
        "worker": row.worker.key,
        "name": row.worker.name,
        "presence": reports.presence(row),
        "seen": row.seen,
        "by_hand": "" if row.by_hand is None else row.get_by_hand_display(),
        "link": links.address(row.pk),
    }


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

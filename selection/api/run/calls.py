"""Calls of the models in a run, and their money."""

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Schema, Status

from selection import reports
from selection.accounts import scoped
from selection.api.base import api, find_object, requester_name
from selection.api.fields import Id, price_field
from selection.api.jobs import JobOut, accept_job
from selection.api.pagination import Page, paginate
from selection.limits import LONGEST_KEY
from selection.model_workers import spending, unreadable
from selection.model_workers.prices import to_amount
from selection.models import ModelCall, Run
from selection.runs import unreadable_models
from selection.runs.roster import model_checks

CallState = Literal["sent", "replied", "failed", "interrupted", "reused"]


class CallQuery(Page):
    state: CallState | None = Field(None, description="Only calls in this state.")
    worker: str = Field("", max_length=LONGEST_KEY, description="Only this worker's calls.")


class CallOut(Schema):
    """A call of a model. cost: in the currency of the run."""

    id: int
    worker: str = Field(alias="worker.key")
    question: str = Field(alias="question.key")
    attempt: int = Field(description="Number of the call for its assignment, from 1.")
    state: CallState
    sent_at: datetime = Field(alias="sent")
    closed_at: datetime | None = Field(alias="closed")
    cost: float
    tokens_in: int | None
    tokens_out: int | None
    milliseconds: int | None
    request_id: str = Field(description="The server's id of the call.")
    reply: str
    result: str = Field(
        description="read, empty, cut off, refused or unreadable; empty without a reply."
    )
    answer: str = Field(description="The answer read from the reply; empty: no answer.")
    problem: str

    @staticmethod
    def resolve_cost(call: Any) -> float:
        return float(to_amount(call.cost))


class ReplyCountOut(Schema):
    """The replies of a model in a run: those without an answer are told apart."""

    worker: str
    replies: int
    right: int
    wrong: int
    empty: int
    cut_off: int
    refused: int
    unreadable: int
    asking: bool = Field(description="The run is paused until a decision.")
    advice: str = Field(description="The setting that would help; empty: nothing was lost.")
    examples: list[str]


class UnreadableIn(Schema):
    """The decision on models with replies without an answer."""

    action: Literal["reread", "wrong", "set aside"]
    parsing: Literal["auto", "letter", "word", "json", "last line", "regex"] = Field(
        "auto", description="For reread: how the answers of all models are read from now on."
    )
    pattern: str = Field("", max_length=200)
    reason: str = Field("", max_length=300)


class SpendingIn(Schema):
    limit: Decimal | None = price_field("The most to spend on calls; null: no limit.")


class SpendingOut(Schema):
    """Money for the calls of a run, in its currency."""

    spent: float
    in_flight: float = Field(description="The most that calls without an outcome can cost.")
    limit: float | None
    forecast: float | None = Field(
        description="Cost of the answers still needed, by the mean cost of a counted answer."
    )


@api.get("/runs/{run_id}/calls", response=list[CallOut])
def list_calls(
    request: HttpRequest, response: HttpResponse, run_id: Id, query: Query[CallQuery]
) -> list[Any]:
    """Return the calls of a run, oldest first."""
    run = find_object(request, Run, run_id)
    rows = scoped(ModelCall, request).filter(run=run).select_related("worker", "question")
    if query.state is not None:
        rows = rows.filter(state=query.state)
    if query.worker:
        rows = rows.filter(worker__key=query.worker)
    return paginate(request, response, rows, query)


@api.get("/runs/{run_id}/replies", response=list[ReplyCountOut])
def count_replies(request: HttpRequest, run_id: Id) -> list[Any]:
    """Return how many replies of each model were right, wrong, or had no answer."""
    return unreadable.count_replies(find_object(request, Run, run_id))


@api.post("/runs/{run_id}/replies", response={200: list[ReplyCountOut], 202: JobOut})
def settle_replies(
    request: HttpRequest, response: HttpResponse, run_id: Id, payload: UnreadableIn
) -> Any:
    """Read the stored replies again, count lost ones as wrong, or set their models aside.

    A run that was paused for this goes on. Reading again makes no calls; it is answered with 202
    at once: poll the header Location.
    """
    run = find_object(request, Run, run_id)
    who, rule = requester_name(request), (payload.parsing, payload.pattern)
    if payload.action == unreadable_models.REREAD:
        job = unreadable_models.request_reread(run, *rule, who, payload.reason)
        return accept_job(response, job)
    unreadable_models.settle(run, payload.action, who=who, why=payload.reason)
    return unreadable.count_replies(run)


@api.post("/runs/{run_id}/model-checks", response={202: JobOut})
def check_models(request: HttpRequest, response: HttpResponse, run_id: Id) -> Status[Any]:
    """Ask each model of a draft one question, outside its limit. Poll the header Location.

    The result has ``total``, their number, and ``models``: ``worker``, ``good``, ``answer``,
    ``reply``, ``tokens``, ``cost``, ``milliseconds`` and ``problem`` of each.
    """
    run = find_object(request, Run, run_id)
    return accept_job(response, model_checks.request_check(run, requester_name(request)))


@api.get("/runs/{run_id}/spending", response=SpendingOut)
def show_spending(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return the run's spending on calls of models."""
    run = find_object(request, Run, run_id)
    report = reports.forecast_spending(run)
    return {name: None if value is None else float(value) for name, value in vars(report).items()}


@api.put("/runs/{run_id}/spending", response=SpendingOut)
def limit_spending(request: HttpRequest, run_id: Id, payload: SpendingIn) -> dict[str, Any]:
    """Limit the run's spending on calls, before its start or while it goes on."""
    run = find_object(request, Run, run_id)
    spending.set_limit(run, payload.limit)
    return show_spending(request, run_id)

"""Models as workers of a pool: their settings, and test calls."""

import json
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema, Status

from selection.accounts import scoped
from selection.model_workers import changes, price_list, testing
from selection.model_workers.adjustments import describe_server
from selection.model_workers.model_files import LARGEST_FILE, ModelFile
from selection.models import Endpoint, ModelServer, Pool, QuestionSet

from .base import api, find_object, requester_name
from .fields import Id, Key
from .jobs import JobOut, accept_job
from .pagination import Page, paginate

ParsingName = Literal["auto", "letter", "word", "json", "last line", "regex"]
UnreadableName = Literal["wrong", "retry"]


class ModelsIn(Schema):
    yaml: str | None = Field(
        None, max_length=LARGEST_FILE, description="A file of models, as docs/model-workers.md has."
    )
    models: list[dict[str, Any]] | None = Field(
        None,
        max_length=1_000,
        description="The file's entries, instead of yaml: each may be a grid.",
        examples=[[{"model": "gpt-4o-mini", "server": "OpenAI", "temperature": [0, 1]}]],
    )


class ModelsOut(Schema):
    added: int = Field(description="Number of workers that were added.")
    changed: int = Field(description="Number of workers that had been there.")


class PublishedOut(Schema):
    """Published prices in US dollars, which nothing uses before they are set as the model's own."""

    price_in: float = Field(description="Of a million input tokens.")
    price_out: float = Field(description="Of a million output tokens.")
    price_call: float
    source: str = Field(description="The list and its version.", examples=[price_list.SOURCE])


class EndpointOut(Schema):
    """A worker that is a model."""

    worker: str = Field(alias="worker.key", examples=["gpt-4o-mini, t=0"])
    server: int = Field(alias="server_id", description="Id of its model server.")
    model: str
    system_prompt: str
    template: str
    temperature: float | None
    seed: int | None
    max_tokens: int
    max_completion_tokens: int | None = Field(description="Sent in place of max_tokens.")
    reasoning_effort: str
    extra_body: dict[str, Any] = Field(description="Further parameters of the request.")
    timeout: float = Field(description="Seconds.")
    structured: bool
    parsing: ParsingName
    pattern: str
    unreadable: UnreadableName
    reuse: bool
    price_in: float = Field(description="Of a million input tokens.")
    price_out: float = Field(description="Of a million output tokens.")
    price_call: float
    published: PublishedOut | None = Field(
        description="Published prices of this model at this server; null if they are not known "
        "for sure."
    )
    problem: str = Field(description="The last failure; empty after a reply.")
    rests_until: datetime | None = Field(description="Time before which no call is made.")
    notice: str = Field(description="What the server does otherwise than asked; usually empty.")

    @staticmethod
    def resolve_published(endpoint: Any) -> dict[str, Any] | None:
        prices = price_list.find_prices(endpoint.server.url, endpoint.model)
        return {**prices, "source": price_list.SOURCE} if prices else None

    @staticmethod
    def resolve_notice(endpoint: Any) -> str:
        return describe_server(endpoint)


class EndpointChangeIn(Schema, extra="forbid"):
    """Omitted fields stay."""

    server: Id | None = None
    model: str | None = Field(None, max_length=200)
    system_prompt: str | None = None
    template: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    reasoning_effort: str | None = Field(None, max_length=20)
    extra_body: dict[str, Any] | None = None
    timeout: float | None = None
    structured: bool | None = None
    parsing: ParsingName | None = None
    pattern: str | None = Field(None, max_length=200)
    unreadable: UnreadableName | None = None
    reuse: bool | None = None
    price_in: float | None = None
    price_out: float | None = None
    price_call: float | None = None


class CallTestIn(Schema):
    worker: Key
    question_set: Id
    question: Key | None = Field(None, description="Its id in the set; null: the first question.")


class CallTestOut(Schema):
    request: str = Field(description="The JSON that was sent; the API key was in a header.")
    reply: str
    answer: str = Field(description="The answer read from the reply; empty: no answer.")
    milliseconds: int | None
    cost: float
    problem: str


class CallTestJobOut(JobOut):
    result: CallTestOut | None = None


@api.get("/pools/{pool_id}/models", response=list[EndpointOut])
def list_pool_models(
    request: HttpRequest, response: HttpResponse, pool_id: Id, query: Query[Page]
) -> list[Endpoint]:
    """Return the workers of a pool that are models, oldest first."""
    rows = _endpoints_of(request, find_object(request, Pool, pool_id))
    return paginate(request, response, rows, query)


@api.post("/pools/{pool_id}/models", response=ModelsOut)
def add_models(request: HttpRequest, pool_id: Id, payload: ModelsIn) -> dict[str, Any]:
    """Add models to a pool as workers, all or none. Workers of the names get the new settings."""
    pool, text = find_object(request, Pool, pool_id), payload.yaml
    if text is None:
        text = json.dumps({"models": payload.models or []}, ensure_ascii=False, indent=1)
    new, changed = changes.store_file(pool, ModelFile(text))
    return {"added": new, "changed": changed}


@api.get("/pools/{pool_id}/models/{key:worker}", response=EndpointOut)
def show_model(request: HttpRequest, pool_id: Id, worker: Key) -> Endpoint:
    """Return the settings of a worker's model; 404 for a person."""
    return _find_endpoint(request, pool_id, worker)


@api.patch("/pools/{pool_id}/models/{key:worker}", response=EndpointOut)
def change_model(
    request: HttpRequest, pool_id: Id, worker: Key, payload: EndpointChangeIn
) -> Endpoint:
    """Change the settings of a worker's model from now on."""
    endpoint, values = _find_endpoint(request, pool_id, worker), payload.dict(exclude_unset=True)
    server = values.pop("server", None)
    new_server = None if server is None else find_object(request, ModelServer, server)
    return changes.change_endpoint(endpoint, values, new_server)


@api.delete("/pools/{pool_id}/models/{key:worker}")
def delete_model(request: HttpRequest, pool_id: Id, worker: Key) -> None:
    """Take the model from a worker, who stays in the pool; 409 while a run goes on with it."""
    changes.remove_endpoint(_find_endpoint(request, pool_id, worker))


@api.post("/pools/{pool_id}/test-calls", response={202: CallTestJobOut})
def test_model(
    request: HttpRequest, response: HttpResponse, pool_id: Id, payload: CallTestIn
) -> Status[Any]:
    """Ask a worker's model a question now. Poll the header Location for the reply, for 60 seconds.

    The call costs what it costs, is in the ledger of no run, and is no answer.
    """
    endpoint = _find_endpoint(request, pool_id, payload.worker)
    question_set = find_object(request, QuestionSet, payload.question_set)
    question = testing.choose_question(question_set, payload.question or "")
    job = testing.request_test_call(endpoint, question, requester_name(request))
    return accept_job(response, job)


def _endpoints_of(request: HttpRequest, pool: Pool) -> Any:
    rows = scoped(Endpoint, request).filter(worker__pool=pool)
    return rows.select_related("worker__pool", "server")


def _find_endpoint(request: HttpRequest, pool_id: int, key: str) -> Endpoint:
    pool = find_object(request, Pool, pool_id)
    endpoint: Endpoint = get_object_or_404(_endpoints_of(request, pool), worker__key=key)
    return endpoint

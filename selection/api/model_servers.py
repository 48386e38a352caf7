"""Model servers of a team; an API key is written, and never returned."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Schema, Status

from selection.accounts import scoped
from selection.limits import LONGEST_ADDRESS
from selection.model_workers import changes, endpoints, testing
from selection.models import ModelServer

from .base import Token, api, find_object, requester_name
from .fields import Amount, Id, changes_of
from .jobs import JobOut, accept_job

LONGEST_NAME = 100
LONGEST_API_KEY = 1_000
KEY = "The API key: stored encrypted and never returned. Empty: removes it."
HEADERS = "Sent with each request; {key} in a value is the place of the API key."
VARIABLE = "Environment variable of the server that has the key, of those in MODEL_KEYS."


class ServerIn(Schema):
    name: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["OpenAI"])
    url: str = Field(max_length=LONGEST_ADDRESS, examples=["https://api.openai.com/v1"])
    key: str = Field("", max_length=LONGEST_API_KEY, description=KEY)
    key_variable: str = Field("", max_length=LONGEST_NAME, description=VARIABLE)
    requests_per_minute: Amount | None = Field(None, description="null: no limit.")
    concurrency: int = Field(8, ge=1, le=10_000, description="Most calls at once.")
    extra_headers: dict[str, str] = Field({}, description=HEADERS)
    extra_query: dict[str, str] = Field({}, description="Parameters of each address.")


ServerChangeIn: Any = changes_of(ServerIn)


class ServerOut(Schema):
    """A server that speaks the OpenAI protocol."""

    id: int = Field(examples=[1])
    name: str = Field(examples=["OpenAI"])
    url: str
    has_key: bool = Field(description="True if a key is stored for it.")
    key_variable: str
    requests_per_minute: int | None
    concurrency: int
    extra_headers: dict[str, str]
    extra_query: dict[str, str]
    created_at: datetime = Field(alias="created")

    @staticmethod
    def resolve_has_key(server: Any) -> bool:
        return bool(server.key_encrypted)


class ListedModelsOut(Schema):
    models: list[str] = Field(examples=[["gpt-4o-mini"]])


class ListedModelsJobOut(JobOut):
    result: ListedModelsOut | None = None


@api.get("/model-servers", response=list[ServerOut])
def list_model_servers(request: HttpRequest) -> Any:
    """Return the team's model servers, by name."""
    return scoped(ModelServer, request)


@api.post("/model-servers", response={201: ServerOut})
def create_model_server(request: HttpRequest, payload: ServerIn) -> Status[Any]:
    """Create a model server."""
    server = ModelServer(team_id=request.auth.team_id)  # type: ignore[attr-defined]
    values = payload.dict()
    endpoints.save_server(server, values, values.pop("key"))
    return Status(201, server)


@api.get("/model-servers/{server_id}", response=ServerOut)
def show_model_server(request: HttpRequest, server_id: Id) -> Any:
    """Return a model server."""
    return find_object(request, ModelServer, server_id)


@api.patch("/model-servers/{server_id}", response=ServerOut)
def change_model_server(request: HttpRequest, server_id: Id, payload: ServerChangeIn) -> Any:
    """Change a model server; its models use the new settings from now on."""
    server, values = find_object(request, ModelServer, server_id), payload.read_changes()
    endpoints.save_server(server, values, values.pop("key", None))
    return server


@api.delete("/model-servers/{server_id}")
def delete_model_server(request: HttpRequest, server_id: Id) -> None:
    """Delete a model server; 409 while models of it are workers."""
    changes.delete_server(find_object(request, ModelServer, server_id))


@api.get(
    "/model-servers/{server_id}/models",
    response={202: ListedModelsJobOut},
    auth=Token(manages=True),
)  # it calls the server with its key
def list_server_models(request: HttpRequest, response: HttpResponse, server_id: Id) -> Status[Any]:
    """Ask the server for the names of its models. Poll the header Location for them."""
    server = find_object(request, ModelServer, server_id)
    return accept_job(response, testing.request_server_models(server, requester_name(request)))

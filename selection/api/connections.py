"""Connections to annotation tools, and their use by runs."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema, Status

from selection import connectors
from selection.accounts import scoped
from selection.connectors import background
from selection.limits import LONGEST_ADDRESS, LONGEST_KEY, MOST_PAGE
from selection.models import (
    Connection,
    ConnectorCall,
    Pool,
    QuestionSet,
    Run,
    RunConnection,
    Watch,
    WatchConnection,
)

from .base import Token, api, find_object, requester_name
from .fields import Id, Yes
from .jobs import JobOut, accept_job

# For the scope to manage only, as webhooks are.
MANAGES = Token(manages=True)

# Values by name, as the connector names its settings.
Settings = dict[str, str | bool | int | float]


class ConnectionIn(Schema):
    kind: str = Field(max_length=40, examples=["label_studio"])
    name: str = Field(max_length=100)
    address: str = Field("", max_length=LONGEST_ADDRESS, examples=["https://studio.example.org"])
    secrets: dict[str, str] = Field(examples=[{"token": "…"}])
    settings: Settings = {}


class ConnectionChangeIn(Schema, extra="forbid"):
    name: str | None = Field(None, max_length=100)
    address: str | None = Field(
        None, max_length=LONGEST_ADDRESS, description="A new one needs the secrets again."
    )
    secrets: dict[str, str] = Field({}, description="Omitted ones stay.")
    settings: Settings | None = None
    paused: Yes | None = None


class ConnectionOut(Schema):
    id: int
    kind: str
    name: str
    address: str
    settings: Settings
    state: str = Field(description="working, failing or paused.")
    problem: str = Field(description="The last fault and its remedy; usually empty.")
    checked_at: datetime | None = Field(alias="checked", description="Of the last good reply.")


class SavedOut(Schema):
    connection: int = Field(description="Its id.")
    account: str = Field(description="The account, as a sentence.")


class SavedJobOut(JobOut):
    result: SavedOut | None = None


class SourceOut(Schema):
    id: str
    name: str


class SourcesJobOut(JobOut):
    result: list[SourceOut] | None = None


class ConnectorCallOut(Schema):
    id: int
    kind: str
    state: str = Field(description="waiting, retrying, delivered or failed.")
    created_at: datetime = Field(alias="made")
    attempts: int = Field(alias="tries")
    attempted_at: datetime | None = Field(alias="tried")
    status_code: int | None = Field(alias="code")
    response_text: str = Field(alias="said", description="Result, or reason of the failure.")
    body: str = Field(description="What is sent, as JSON.")


class ConnectorCallQuery(Schema):
    limit: int = Field(100, ge=1, le=MOST_PAGE)
    before_id: int | None = Field(None, ge=1, le=2**62, description="Only calls with a lower id.")


class ReadIn(Schema):
    connection: Id
    source: str = Field("", max_length=LONGEST_KEY, description="Id of one of its sources.")


class ReadOut(Schema):
    stored: int = Field(description="Number of workers or questions, new and changed.")


class ReadJobOut(JobOut):
    result: ReadOut | None = None


class RunConnectionIn(Schema):
    connection: Id
    settings: Settings = {}


class RunConnectionOut(Schema):
    connection: int = Field(alias="connection_id")
    settings: Settings
    enabled: bool = Field(alias="on")
    problem: str
    polled_at: datetime | None = Field(alias="polled")


class WatchConnectionOut(RunConnectionOut):
    notes: list[str] = Field(description="Hints for people, in sentences.")
    by_hand: list[str] = Field(description="Paused workers that only people can pause there.")


class WriteBackIn(Schema):
    mode: str = Field(max_length=40, examples=["description"])
    workers: list[str] = Field(min_length=1, max_length=1000, description="The selected workers.")


@api.get("/connections", response=list[ConnectionOut], auth=MANAGES)
def list_connections(request: HttpRequest) -> Any:
    """Return the team's connections."""
    return scoped(Connection, request)


@api.post("/connections", response={202: SavedJobOut})
def create_connection(
    request: HttpRequest, response: HttpResponse, payload: ConnectionIn
) -> Status[Any]:
    """Check the account, and then store the connection. Poll the header Location for its id.

    Secrets are never returned.
    """
    team = request.auth.team_id  # type: ignore[attr-defined]
    connection = Connection(team_id=team, kind=payload.kind)
    values = payload.dict(exclude={"kind"})
    job = connectors.request_save(connection, requester_name(request), **values)
    return accept_job(response, job)


@api.get("/connections/{connection_id}", response=ConnectionOut, auth=MANAGES)
def show_connection(request: HttpRequest, connection_id: Id) -> Any:
    """Return a connection."""
    return find_object(request, Connection, connection_id)


@api.patch("/connections/{connection_id}", response={200: ConnectionOut, 202: SavedJobOut})
def change_connection(
    request: HttpRequest, response: HttpResponse, connection_id: Id, payload: ConnectionChangeIn
) -> Any:
    """Change a connection; omitted fields stay. A change besides `paused` is checked first: 202."""
    connection = find_object(request, Connection, connection_id)
    values = payload.dict(exclude={"paused"}, exclude_unset=True)
    if payload.paused is not None:
        connectors.pause_connection(connection, payload.paused)
    if values:
        current = {name: getattr(connection, name) for name in ("name", "address", "settings")}
        changes = {name: value for name, value in values.items() if value is not None}
        changed = {"secrets": {}} | current | changes
        job = connectors.request_save(connection, requester_name(request), **changed)
        return accept_job(response, job)
    return connection


@api.delete("/connections/{connection_id}")
def delete_connection(request: HttpRequest, connection_id: Id) -> None:
    """Delete a connection that no run uses."""
    connectors.delete_connection(find_object(request, Connection, connection_id))


@api.get("/connections/{connection_id}/sources", response={202: SourcesJobOut}, auth=MANAGES)
def list_sources(request: HttpRequest, response: HttpResponse, connection_id: Id) -> Status[Any]:
    """Ask for the places to read from, for example projects. Poll the header Location."""
    return _accept_call(request, response, connection_id, background.SOURCES)


@api.get("/connections/{connection_id}/calls", response=list[ConnectorCallOut], auth=MANAGES)
def list_connection_calls(
    request: HttpRequest, connection_id: Id, query: Query[ConnectorCallQuery]
) -> Any:
    """Return sent and waiting calls, latest first; page by ``before_id``. Kept 30 days."""
    rows = find_object(request, Connection, connection_id).calls.all()
    if query.before_id is not None:
        rows = rows.filter(pk__lt=query.before_id)
    return rows[: query.limit]


@api.post("/connector-calls/{call_id}/repeat", response={202: ConnectorCallOut})
def repeat_call(request: HttpRequest, call_id: Id) -> Status[Any]:
    """Make a failed call again."""
    rows = scoped(ConnectorCall, request).select_related("connection", "link")
    return Status(202, connectors.repeat_call(get_object_or_404(rows, pk=call_id)))


# -- reading


@api.post("/question-sets/{set_id}/read", response={202: ReadJobOut})
def read_gold(
    request: HttpRequest, response: HttpResponse, set_id: Id, payload: ReadIn
) -> Status[Any]:
    """Store the gold questions of a source, for example those with ground truth."""
    question_set = find_object(request, QuestionSet, set_id)
    order = {"question_set": question_set.pk, "source": payload.source}
    return _accept_call(request, response, payload.connection, background.GOLD, **order)


@api.post("/pools/{pool_id}/read", response={202: ReadJobOut})
def read_workers(
    request: HttpRequest, response: HttpResponse, pool_id: Id, payload: ReadIn
) -> Status[Any]:
    """Store the people of the connection's account as workers."""
    order = {"pool": find_object(request, Pool, pool_id).pk, "source": payload.source}
    return _accept_call(request, response, payload.connection, background.WORKERS, **order)


# -- runs


@api.get("/runs/{run_id}/connections", response=list[RunConnectionOut], auth=MANAGES)
def list_run_connections(request: HttpRequest, run_id: Id) -> Any:
    """Return the connections that the run uses or used."""
    return find_object(request, Run, run_id).connections.all()


@api.post("/runs/{run_id}/connections", response={202: JobOut})
def connect_run(
    request: HttpRequest, response: HttpResponse, run_id: Id, payload: RunConnectionIn
) -> Status[Any]:
    """Let a run use a connection, or change its settings: its workers answer there."""
    order = {"run": find_object(request, Run, run_id).pk, "settings": payload.settings}
    return _accept_call(request, response, payload.connection, background.CONNECT, **order)


@api.delete("/runs/{run_id}/connections/{connection_id}")
def disconnect_run(request: HttpRequest, run_id: Id, connection_id: Id) -> None:
    """Use a connection no more: its open tasks are removed there."""
    connectors.disconnect_run(_find_link(request, run_id, connection_id), requester_name(request))


@api.post("/runs/{run_id}/connections/{connection_id}/write-back", response={202: ConnectorCallOut})
def write_selection(
    request: HttpRequest, run_id: Id, connection_id: Id, payload: WriteBackIn
) -> Status[Any]:
    """Write the selected workers into the tool."""
    link = _find_link(request, run_id, connection_id)
    return Status(202, connectors.write_back(link, payload.mode, payload.workers))


# -- watches


@api.get("/watches/{watch_id}/connections", response=list[WatchConnectionOut], auth=MANAGES)
def list_watch_connections(request: HttpRequest, watch_id: Id) -> list[dict[str, Any]]:
    """Return the connections into which the watch puts gold questions, or did."""
    links = find_object(request, Watch, watch_id).connections.all()
    names = ("connection_id", "settings", "on", "problem", "polled")
    return [
        {name: getattr(link, name) for name in names}
        | {"notes": link.memory.get("notes", []), "by_hand": connectors.list_by_hand(link)}
        for link in links
    ]


@api.post("/watches/{watch_id}/connections", response={202: JobOut})
def connect_watch(
    request: HttpRequest, response: HttpResponse, watch_id: Id, payload: RunConnectionIn
) -> Status[Any]:
    """Let a watch put its gold questions among the tasks of a tool, and fetch the answers."""
    order = {"watch": find_object(request, Watch, watch_id).pk, "settings": payload.settings}
    return _accept_call(request, response, payload.connection, background.CONNECT_WATCH, **order)


@api.delete("/watches/{watch_id}/connections/{connection_id}")
def disconnect_watch(request: HttpRequest, watch_id: Id, connection_id: Id) -> None:
    """Put no more gold there: open gold tasks are removed."""
    links = scoped(WatchConnection, request).select_related("watch", "connection")
    link = get_object_or_404(links, watch=watch_id, connection=connection_id)
    connectors.disconnect_watch(link, requester_name(request))


def _accept_call(
    request: HttpRequest, response: HttpResponse, connection_id: int, kind: str, **wanted: Any
) -> Status[Any]:
    connection = find_object(request, Connection, connection_id)
    job = connectors.request_call(connection, kind, requester_name(request), **wanted)
    return accept_job(response, job)


def _find_link(request: HttpRequest, run_id: int, connection_id: int) -> RunConnection:
    links = scoped(RunConnection, request).select_related("run", "connection")
    link: RunConnection = get_object_or_404(links, run=run_id, connection=connection_id)
    return link

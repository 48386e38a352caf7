"""The use of connections by runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from selection.errors import Conflict, Refused
from selection.history import events
from selection.models import Connection, ConnectorCall, Run, RunConnection, Watch, WatchConnection

from . import calls, health, registry
from .accounts import clean_settings
from .reading import call_now


def connect_run(
    run: Run, connection: Connection, settings: Mapping[str, Any] | None = None, who: str = ""
) -> RunConnection:
    """Let the run use this connection; again with other settings, or after ``disconnect_run``.

    Raises Refused for another team's connection or wrong settings, Conflict for an ended run, or
    if another connection takes its tasks already.
    """
    if run.team_id != connection.team_id:
        raise Refused("Run and connection must belong to the same team.")
    if run.status == Run.Status.ENDED:
        raise Conflict("The run has ended.")
    connector = registry.connector_of(connection)
    others = run.connections.filter(on=True).exclude(connection=connection)
    if connector.deals and any(registry.connector_of(one.connection).deals for one in others):
        raise Conflict(f"The tasks of this run go to “{others[0].connection}” already.")
    link = run.connections.filter(connection=connection).first()
    link = link or RunConnection(run=run, connection=connection)
    link.settings = clean_settings(connector.run_settings, settings or {})
    link.on, link.problem, before = True, "", link.memory
    call_now(connection, lambda: connector.prepare(link))
    with transaction.atomic():
        _keep_notes(link, before)
        link.save()
        events.write_event(run, "connect", f"Connected to {connection} ({connector.label}).", who)
        health.request_exchange(connection.pk)
    return link


def _keep_notes(link: RunConnection, before: Mapping[str, Any]) -> None:
    """Add what the preparation noted to the notes that calls may have changed meanwhile."""
    stored = RunConnection.objects.select_for_update().filter(pk=link.pk).first()
    if stored is not None:
        new = {name: value for name, value in link.memory.items() if before.get(name) != value}
        link.memory = {**stored.memory, **new}


@transaction.atomic
def disconnect_run(link: RunConnection, who: str = "") -> None:
    """Use the connection no more: open tasks are removed there, answers stay here."""
    RunConnection.objects.filter(pk=link.pk).update(on=False)
    link.on = False
    events.write_event(link.run, "connect", f"Disconnected from {link.connection}.", who)
    health.request_exchange(link.connection_id)


def with_tools() -> Exists:
    """Annotate runs ``with_tools``: True if a run uses a connection."""
    return Exists(RunConnection.objects.filter(run=OuterRef("pk"), on=True))


def list_links(user: Run | Watch) -> list[Any]:
    """List the connections in use; without a query for a run that was annotated with none."""
    if user.__dict__.get("with_tools") is False:
        return []
    return list(user.connections.filter(on=True).select_related("connection"))


def dismiss_problem(link: RunConnection | WatchConnection) -> None:
    """Clear the last problem of a connection's use, after somebody read it."""
    health.note_problem(link, "")


def write_back(link: RunConnection, how: str, workers: Sequence[str]) -> ConnectorCall:
    """Queue the call that writes the selected workers back. Raises Refused for an unknown way."""
    ways = dict(registry.connector_of(link.connection).write_backs)
    if how not in ways:
        raise Refused(f"Choose one of: {', '.join(ways) or 'nothing, this tool takes none'}.")
    if not workers:
        raise Refused("The run has not selected any worker yet.")
    data = {"how": how, "workers": list(workers)}
    return calls.queue_call(link.connection, calls.WRITE_BACK, data, link)

"""Changes of servers and endpoints, and models of a file stored in a pool."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from selection import audit
from selection.errors import Conflict, Refused
from selection.models import Endpoint, ModelServer, Pool, Run
from selection.texts import plural

from . import askable, endpoints, fixed_settings, spending
from .model_files import ModelFile

MOST_NAMED = 5


@transaction.atomic
def delete_server(server: ModelServer) -> None:
    rows = server.endpoints.order_by("worker__key").values_list("worker__key", flat=True)
    keys = list(rows.distinct()[: MOST_NAMED + 1])
    if keys:
        quotes = ", ".join(f"“{key}”" for key in keys[:MOST_NAMED])
        more = " and others" if len(keys) > MOST_NAMED else ""
        noun = plural("worker", len(keys))
        raise Conflict(f"“{server}” is the server of the {noun} {quotes}{more}, and stays.")
    server.delete()


def list_settings(endpoint: Endpoint) -> dict[str, Any]:
    return {name: getattr(endpoint, name) for name in endpoints.ENDPOINT_FIELDS}


def change_endpoint(
    endpoint: Endpoint, values: Mapping[str, Any], server: ModelServer | None = None
) -> Endpoint:
    """Give a worker's model these settings; the others stay. Return the new endpoint.

    Raises FieldRefused for an invalid value, Refused for another team's server, Conflict if a run
    in progress has called the model as it is.
    """
    server = server or endpoint.server
    columns = askable.list_columns(endpoint.worker.pool.team_id)
    changed = endpoints.build_endpoint(server, list_settings(endpoint) | dict(values), columns)
    if server.team_id != endpoint.worker.pool.team_id:
        raise Refused(f"The model server “{server}” is another team's.")
    changed.worker = endpoint.worker
    fixed_settings.refuse_endpoint_changes([changed])
    changed.save()
    spending.forget_unaffordable(endpoint.worker.candidates.all())
    return changed


@transaction.atomic
def remove_endpoint(endpoint: Endpoint) -> None:
    """Make the worker a person again. Raises Conflict while a run goes on with the model."""
    run = Run.objects.filter(
        candidates__worker=endpoint.worker, status__in=fixed_settings.GOING_ON
    ).first()
    if run is not None:
        raise Conflict(f"The run “{run}” goes on with this model: end it, or withdraw the worker.")
    audit.record_deletion(endpoint)
    endpoint.delete()


@transaction.atomic
def store_file(pool: Pool, file: ModelFile) -> tuple[int, int]:
    """Store a file's servers and models, all or nothing; return the numbers of new and changed.

    A server of the name is changed. Raises Refused with line and column.
    """
    servers = {row.name: row for row in ModelServer.objects.filter(team=pool.team_id)}
    for entry in file.servers:
        server = servers.get(entry.values["name"]) or ModelServer(team_id=pool.team_id)
        try:
            endpoints.save_server(server, entry.values, entry.key)
        except Refused as refusal:
            raise file.refusal_of_server(entry, refusal) from refusal
        servers[server.name] = server
    built = file.build_endpoints(servers, askable.list_columns(pool.team_id))
    new, changed = endpoints.store_endpoints(pool, built)
    audit.record_entry("import", pool, after={"models": new + changed})
    return new, changed

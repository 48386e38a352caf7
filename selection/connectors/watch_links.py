"""The use of connections by watches."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from selection import audit, db_clock
from selection.errors import Conflict, Refused
from selection.models import (
    Connection,
    GoldTask,
    Watch,
    WatchConnection,
    WatchedMember,
)
from selection.watches.begin import refuse_stopped

from . import gold_plan, health, registry
from .accounts import clean_settings
from .reading import call_now


def connect_watch(
    watch: Watch, connection: Connection, settings: Mapping[str, Any] | None = None, who: str = ""
) -> WatchConnection:
    """Put gold questions of the watch into this tool; again with other settings.

    Raises Refused for another team's connection or wrong settings, Conflict for a stopped watch,
    or if another connection takes its gold already.
    """
    if watch.team_id != connection.team_id:
        raise Refused("Watch and connection must belong to the same team.")
    refuse_stopped(watch)
    connector = registry.connector_of(connection)
    other = watch.connections.filter(on=True).exclude(connection=connection).first()
    if other is not None:
        raise Conflict(f"The gold of this watch goes to “{other.connection}” already.")
    stored = watch.connections.filter(connection=connection).first()
    link = stored or WatchConnection(watch=watch, connection=connection)
    cleaned = clean_settings(connector.watch_settings, settings or {})
    if stored is not None and stored.on and stored.settings != cleaned:
        raise Conflict("Disconnect the watch first: its gold tasks lie in the present project.")
    link.settings, link.on, link.problem = cleaned, True, ""
    link.joined = db_clock.database_now()
    call_now(connection, lambda: connector.prepare_watch(link))
    with transaction.atomic():
        link.save()
        link.members.exclude(pause="paused").delete()  # they are matched anew
        link.gold_tasks.filter(state="refused").update(state="waiting")
        audit.record_entry("connected", watch, who=who, after={"connection": str(connection)})
        health.request_poll(connection.pk)
    return link


@transaction.atomic
def disconnect_watch(link: WatchConnection, who: str = "") -> None:
    """Use the connection no more: open gold tasks are removed there, answers stay here."""
    WatchConnection.objects.filter(pk=link.pk).update(on=False)
    after = {"connection": str(link.connection)}
    audit.record_entry("disconnected", link.watch, who=who, after=after)
    health.request_poll(link.connection_id)


def list_by_hand(link: WatchConnection) -> list[str]:
    """List the paused workers that the other side does not let us pause."""
    rows = link.members.filter(pause=WatchedMember.Pause.REFUSED).exclude(watched=None)
    return list(rows.order_by("pk").values_list("watched__worker__key", flat=True))


def due_links(connection: Connection) -> QuerySet[WatchConnection]:
    """List the uses by watches that are on, or that have gold tasks there still."""
    remains = GoldTask.objects.filter(link=OuterRef("pk"), state__in=gold_plan.PRESENT)
    rows = WatchConnection.objects.filter(Q(on=True) | Exists(remains), connection=connection)
    return rows.select_related("watch", "connection")


def has_tasks(link: WatchConnection) -> bool:
    """Tell if gold tasks lie there, or are to come."""
    is_going = link.on and not link.watch.stopped
    return is_going or link.gold_tasks.filter(state__in=gold_plan.PRESENT).exists()

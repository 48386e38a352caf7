"""One exchange with the other side: plan tasks, make the due calls, fetch the changes."""

import json
import logging
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from selection import db_clock
from selection.errors import Refused
from selection.models import (
    Connection,
    ConnectorCall,
    OutsideTask,
    Run,
    RunConnection,
    Watch,
    WatchConnection,
)
from selection.outbox import celery_messages, leases

from . import calls, gold_plan, health, intake, registry, wanted_tasks, watch_links
from .faults import Denied, Fault, Outage

logger = logging.getLogger(__name__)

FOLLOWED = timedelta(days=30)  # after the end of a run


def exchange(connection_id: int, polls: bool = True) -> None:
    """Bring this connection up to date. It may run twice, late, or be killed.

    polls  False to make the due calls only: new tasks do not wait for slow polls
    """
    celery_messages.mark_received(health.POLL_TASK if polls else health.TASK, connection_id)
    connection = Connection.objects.filter(pk=connection_id).first()
    if connection is None:
        return
    for link in _links(connection) | _watched_links(connection):
        if not _fetch_last(link):
            continue
        wanted_tasks.plan_tasks(link)
        plan_calls(link)
    if connection.paused:
        return
    calls.send_due(connection)
    for watch_link in watch_links.due_links(connection):
        exchange_gold(watch_link, polls)
    if not polls:
        return
    for link in _links(connection).filter(on=True):
        poll_due(link)


@transaction.atomic
def plan_calls(link: RunConnection) -> None:
    """Queue the calls that the run's state asks for, unless one is pending or was refused."""
    if not link.on:
        return
    Run.objects.locked(link.run_id)  # no other process plans the same calls
    link.refresh_from_db()
    for kind, data in registry.connector_of(link.connection).plan(link):
        same = link.calls.filter(kind=kind, body=json.dumps(data), delivered=None)
        if not same.exists():
            calls.queue_call(link.connection, kind, data, link)


def _links(connection: Connection) -> QuerySet[RunConnection]:
    """List the connection's uses by runs that go on, or that have tasks there still."""
    going = Q(run__status__in=wanted_tasks.GOING)
    if registry.connector_of(connection).outlasts_run:
        going |= Q(on=True, run__ended__gt=db_clock.database_now() - FOLLOWED)
    remains = Exists(OutsideTask.objects.present().filter(link=OuterRef("pk")))
    rows = RunConnection.objects.filter(going | remains, connection=connection)
    return rows.select_related("run", "connection")


def _watched_links(connection: Connection) -> QuerySet[RunConnection]:
    """List the uses by runs with a watch, whose pauses the other side follows for years."""
    rows = RunConnection.objects.filter(connection=connection, on=True)
    if not registry.connector_of(connection).outlasts_run:
        rows = rows.none()
    watched = Exists(Watch.objects.filter(run=OuterRef("run")))
    return rows.filter(watched).select_related("run", "connection")


def _fetch_last(link: RunConnection) -> bool:
    """Fetch the answers given since the last poll, before the open tasks are removed for good.

    Return False if they cannot be fetched now: the tasks stay until then.
    """
    used = link.on and link.run.status in wanted_tasks.GOING
    if used or not registry.connector_of(link.connection).can("poll"):
        return True
    if not link.tasks.present().exists():
        return True
    return _is_awake(link.connection_id) and _fetch(link)


def poll_due(link: RunConnection) -> None:
    """Fetch what is new for a run, if the last poll is old enough."""
    connector = registry.connector_of(link.connection)
    if connector.can("poll") and _begin_poll(link):
        _fetch(link)


def exchange_gold(link: WatchConnection, polls: bool) -> None:
    """Let the other side follow the watch: its pauses at once, its gold tasks at every poll."""
    connector = registry.connector_of(link.connection)
    if link.on and gold_plan.stale_members(link).exists() and _is_awake(link.connection_id):
        _attempt(link, lambda: connector.keep_pauses(link))
    if polls and watch_links.has_tasks(link) and _begin_poll(link):
        _attempt(link, lambda: connector.exchange_gold(link))


def _begin_poll(link: RunConnection | WatchConnection) -> bool:
    """Tell if a poll is due; it is then this process's."""
    connector, now = registry.connector_of(link.connection), db_clock.database_now()
    if not _is_awake(link.connection_id):
        return False
    if link.polled and now - link.polled < timedelta(seconds=connector.poll_seconds):
        return False
    rows = type(link)._default_manager.filter(pk=link.pk, polled=link.polled)
    return bool(rows.update(polled=now))


def _fetch(link: RunConnection) -> bool:
    """Store what is new; return False after a fault that passes."""
    connector = registry.connector_of(link.connection)
    return _attempt(link, lambda: intake.take_link_news(link, connector.poll(link)))


def _attempt(link: RunConnection | WatchConnection, action: Callable[[], object]) -> bool:
    """Do this; return False after a fault that passes."""
    try:
        with leases.renewing(lambda: _note_poll(link)):
            action()
        health.note_success(link.connection)
    except (Outage, Denied) as fault:
        health.note_fault(link.connection, fault)
        return False
    except (Fault, Refused) as refusal:
        health.note_problem(link, str(refusal))
    except Exception as error:
        logger.exception("A poll of %s failed.", link)
        health.note_problem(link, f"A poll failed: {type(error).__name__}: {error}")
    return True


def _note_poll(link: RunConnection | WatchConnection) -> bool:
    """Keep other processes from polling beside a slow poll."""
    type(link)._default_manager.filter(pk=link.pk).update(polled=db_clock.database_now())
    return True


def _is_awake(connection_id: int) -> bool:
    now = db_clock.database_now()
    awake = Q(rests_until=None) | Q(rests_until__lte=now)
    return Connection.objects.filter(awake, pk=connection_id, paused=False).exists()


def request_exchanges(run_id: int) -> None:
    rows = RunConnection.objects.filter(run=run_id).values_list("connection", flat=True)
    for connection_id in rows:
        health.request_exchange(connection_id)


def sweep_connections() -> None:
    """Request the exchanges that poll; they make up for lost requests as well."""
    ready = ConnectorCall.objects.ready()
    for connection in Connection.objects.filter(paused=False):
        used = _links(connection).exists() or watch_links.due_links(connection).exists()
        if used or ready.filter(connection=connection).exists():
            health.request_poll(connection.pk)
        elif _watched_links(connection).exists():
            health.request_exchange(connection.pk)
    calls.forget_calls()

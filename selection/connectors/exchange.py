"""One exchange with the other side: plan tasks, make the due calls, fetch the changes."""

import json
import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from selection import db_clock
from selection.errors import Refused
from selection.models import Connection, ConnectorCall, OutsideTask, Run, RunConnection, Watch
from selection.outbox import celery_messages, leases

from . import calls, health, intake, registry, wanted_tasks
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
    connector, now = registry.connector_of(link.connection), db_clock.database_now()
    if not connector.can("poll") or not _is_awake(link.connection_id):
        return
    if link.polled and now - link.polled < timedelta(seconds=connector.poll_seconds):
        return
    if not RunConnection.objects.filter(pk=link.pk, polled=link.polled).update(polled=now):
        return  # another process polls
    _fetch(link)


def _fetch(link: RunConnection) -> bool:
    """Store what is new; return False after a fault that passes."""
    connector = registry.connector_of(link.connection)
    try:
        with leases.renewing(lambda: _note_poll(link)):
            intake.take_link_news(link, connector.poll(link))
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


def _note_poll(link: RunConnection) -> bool:
    """Keep other processes from polling beside a slow poll."""
    RunConnection.objects.filter(pk=link.pk).update(polled=db_clock.database_now())
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
        if ready.filter(connection=connection).exists() or _links(connection).exists():
            health.request_poll(connection.pk)
        elif _watched_links(connection).exists():
            health.request_exchange(connection.pk)
    calls.forget_calls()

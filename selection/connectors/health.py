"""The health of a connection: its last fault, and the rest that it takes because of it."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction

from selection import db_clock
from selection.models import Connection, RunConnection, WatchConnection
from selection.models.connectors import PROBLEM_LENGTH
from selection.outbox.celery_messages import request_task, send_message

from .faults import Denied, Fault, Outage
from .secret_store import hide_secrets

TASK, POLL_TASK = "selection.tasks.exchange", "selection.tasks.poll_tool"
# Seconds without calls after so many faults in a row; then always the last.
RESTS = (2, 4, 8, 15, 30, 60)
DENIED_REST = 300


def request_exchange(connection_id: int) -> None:
    """Request the due calls of this connection, after the current transaction commits."""
    request_task(TASK, connection_id)


def request_poll(connection_id: int) -> None:
    """Request calls and polls of this connection, after the current transaction commits."""
    request_task(POLL_TASK, connection_id)


def note_success(connection: Connection) -> None:
    """Clear the connection's problem after a successful reply."""
    rows = Connection.objects.filter(pk=connection.pk)
    now = db_clock.database_now()
    rows.update(problem="", failures=0, rests_until=None, checked=now)
    connection.problem, connection.failures, connection.rests_until = "", 0, None
    connection.checked = now


def note_fault(connection: Connection, fault: Fault) -> None:
    """Store the fault, and let the connection rest: the longer, the more often in a row."""
    failures = connection.failures + 1
    seconds: float = RESTS[min(failures, len(RESTS)) - 1]
    if isinstance(fault, Denied):
        seconds = DENIED_REST
    elif isinstance(fault, Outage):
        seconds = max(seconds, fault.retry_after)
    connection.failures = failures
    connection.problem = hide_secrets(connection, str(fault))[:PROBLEM_LENGTH]
    connection.rests_until = db_clock.database_now() + timedelta(seconds=seconds)
    connection.save(update_fields=["failures", "problem", "rests_until"])
    if seconds < settings.SWEEP_SECONDS:
        again = {"countdown": seconds}
        transaction.on_commit(lambda: send_message(TASK, [connection.pk], **again), robust=True)


def note_problem(link: RunConnection | WatchConnection, problem: str) -> None:
    """Store a problem of a run's or watch's connection; an empty one clears it."""
    text = hide_secrets(link.connection, problem)[:PROBLEM_LENGTH]
    if text != link.problem:
        link.problem = text
        type(link)._default_manager.filter(pk=link.pk).update(problem=text)

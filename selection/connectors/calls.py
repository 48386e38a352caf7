"""The outbox of connections: calls in order, repeated until they arrive.

The first pending call of a connection is made first; the others wait for it. A call is counted as
tried before it is made, so that the next attempt knows that this one may have arrived.
"""

import json
import logging
from datetime import timedelta

from django.db import transaction

from selection import db_clock
from selection.errors import Refused
from selection.models import Connection, ConnectorCall
from selection.models.webhooks import REPLY_LENGTH
from selection.outbox import leases, queues

from . import health, registry, task_calls
from .call_queue import queue_call
from .faults import Denied, Fault, Outage
from .secret_store import hide_secrets

logger = logging.getLogger(__name__)

SEND, REMOVE, WRITE_BACK = "tasks.send", "tasks.remove", "selection.write"
# If the process is killed, the call is made again after this time. Long work renews it.
LEASE = timedelta(seconds=90)
# An error of the connector itself is given up after so many tries.
MOST_ERRORS = 8
KEPT = timedelta(days=30)


def send_due(connection: Connection) -> None:
    """Make the connection's due calls in their order, until one fails."""
    queues.work_through(
        lambda: _lease_next(connection),
        attempt_call,
        lambda: health.request_exchange(connection.pk),
        failures=1,
    )


def _lease_next(connection: Connection) -> ConnectorCall | None:
    """Lease the first pending call; None if there is none, or it may not be made now."""
    rows = ConnectorCall.objects.filter(connection=connection.pk)
    head = rows.pending().order_by("id").first()
    if head is None:
        return None
    tried = {"tries": min(head.tries + 1, 30_000), "tried": db_clock.database_now()}
    if not queues.lease_row(head, rows.ready(), LEASE, **tried):
        return None
    return rows.select_related("connection", "link__run", "link__connection").get(pk=head.pk)


def attempt_call(call: ConnectorCall) -> bool:
    """Make the call and record the outcome; return False if the connection must rest."""
    try:
        with leases.renewing(lambda: _renew(call)):
            note = _make_call(call)
    except leases.LeaseLost:
        return False
    except (Outage, Denied) as fault:
        _keep_for_later(call, fault)
        return False
    except (Fault, Refused) as refusal:
        _give_up(call, str(refusal), getattr(refusal, "code", None))
        return True
    except Exception as error:
        logger.exception("Call %s of a connection failed.", call.pk)
        text = f"The connector failed: {type(error).__name__}: {error}"
        if call.tries >= MOST_ERRORS:
            _give_up(call, text, None)
            return True
        _keep_for_later(call, Outage(text))
        return False
    now = db_clock.database_now()
    call.keep(due=None, delivered=now, code=200, said=note[:REPLY_LENGTH])
    health.note_success(call.connection)
    return True


def _renew(call: ConnectorCall) -> bool:
    """Renew the lease; return False if another process has made the call its own."""
    rows = ConnectorCall.objects.pending().filter(pk=call.pk, tries=call.tries)
    return bool(rows.update(due=db_clock.database_now() + LEASE))


def _make_call(call: ConnectorCall) -> str:
    connector, data = registry.connector_of(call.connection), json.loads(call.body)
    again = call.tries > 1
    if call.link is None:
        raise Refused("The run of this call is gone.")
    if call.kind == SEND:
        return task_calls.send_tasks(connector, call.link, data, again)
    if call.kind == REMOVE:
        return task_calls.remove_tasks(connector, call.link, data)
    if call.kind == WRITE_BACK:
        return connector.write_back(call.link, data["how"], data["workers"])
    return connector.perform(call.link, call.kind, data, again)


def _keep_for_later(call: ConnectorCall, fault: Fault) -> None:
    text = hide_secrets(call.connection, str(fault))
    call.keep(due=db_clock.database_now(), code=fault.code, said=text[:REPLY_LENGTH])
    health.note_fault(call.connection, fault)


@transaction.atomic
def _give_up(call: ConnectorCall, reason: str, code: int | None) -> None:
    text = hide_secrets(call.connection, reason)
    call.keep(due=None, code=code, said=text[:REPLY_LENGTH])
    if call.link is not None:
        health.note_problem(call.link, text)
        if call.kind == SEND:
            task_calls.refuse_tasks(call.link, json.loads(call.body))


@transaction.atomic
def repeat_call(call: ConnectorCall) -> ConnectorCall:
    """Make a failed call again, after the pending ones. Raises Refused for any other."""
    if call.state != "failed":
        raise Refused("Only a failed call can be made again.")
    if call.kind == SEND and call.link is not None:
        task_calls.restore_tasks(call.link, json.loads(call.body))
    # It counts as tried: an earlier attempt may have arrived.
    return queue_call(call.connection, call.kind, json.loads(call.body), call.link, tries=1)


def forget_calls() -> None:
    """Delete the record of calls that were made or given up long ago."""
    old = db_clock.database_now() - KEPT
    ConnectorCall.objects.filter(made__lt=old, due=None).delete()

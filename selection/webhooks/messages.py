"""The outbox: messages are stored in the transaction that they report.

So a message exists if and only if its event was committed. Without a subscribed webhook nothing is
stored, at the cost of one query.
"""

import json
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.core.serializers.json import DjangoJSONEncoder

from selection import db_clock, wakeups
from selection.models import Delivery, Run, Webhook
from selection.outbox.celery_messages import request_task

TASK = "selection.tasks.deliver"
CHUNK = 1000


class Message(NamedTuple):
    """A message: its kind as in Webhook.Event, and its JSON data after that of the run."""

    kind: str
    data: dict[str, Any]


def write_messages(run: Run, tell: Callable[[Collection[str]], Iterable[Message]]) -> None:
    """Store the messages about this run that the team's webhooks subscribe to.

    tell  builds the messages from the subscribed kinds; called only if there are any
    """
    if wakeups.is_silenced():
        return  # simulated crowds send no messages
    hooks = list(Webhook.objects.filter(team=run.team_id, on=True))
    kinds = {kind for hook in hooks for kind in hook.events}
    if not kinds:
        return
    now, about = db_clock.database_now(), {"run": run.pk, "run_name": run.name}
    messages = [
        (kind, body_of(kind, about | data, now)) for kind, data in tell(kinds) if kind in kinds
    ]
    queue_messages(hooks, messages, now)


def queue_messages(
    hooks: Iterable[Webhook], messages: Iterable[tuple[str, str]], now: datetime
) -> None:
    """Store these kinds and bodies for subscribed webhooks, and request their delivery."""
    bodies = list(messages)
    for hook in hooks:
        rows = [
            Delivery(webhook=hook, kind=kind, body=body, made=now, due=now)
            for kind, body in bodies
            if hook.wants(kind)
        ]
        if rows:
            Delivery.objects.bulk_create(rows, CHUNK)
            request_delivery(hook.pk)


def body_of(kind: str, data: dict[str, Any], at: datetime) -> str:
    """Return the message's body in the format of Standard Webhooks."""
    document = {"type": kind, "timestamp": at, "data": data}
    return json.dumps(document, cls=DjangoJSONEncoder, ensure_ascii=False)


def request_delivery(webhook_id: int) -> None:
    """Request delivery for this webhook, a moment after the current transaction commits."""
    request_task(TASK, webhook_id)

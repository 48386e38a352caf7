"""The outbox: messages are written in the transaction that does what they tell of.

So a message is there if and only if that happened. Where nobody listens nothing is written, and all
that it costs is one look.
"""

import json
import logging
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from celery import current_app
from django.core.cache import cache
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone

from selection import wakeups
from selection.models import Delivery, Run, Webhook

logger = logging.getLogger(__name__)

TASK = "selection.tasks.deliver"
# If the message to Celery is lost the key must not silence later ones for long.
KEY_SECONDS = 10
CHUNK = 1000


class Message(NamedTuple):
    """kind as in Webhook.Event; data goes to JSON, and begins with the run by itself"""

    kind: str
    data: dict[str, Any]


def write_messages(run: Run, tell: Callable[[Collection[str]], Iterable[Message]]) -> None:
    """Write down what the team's webhooks want to hear of this run.

    tell  makes the messages; it is told which kinds anybody listens to, and asked only if any are
    """
    if wakeups.is_silenced():
        return  # what happens to a crowd that is not there is nobody's news
    hooks = list(Webhook.objects.filter(team=run.team_id, on=True))
    kinds = {kind for hook in hooks for kind in hook.events}
    if not kinds:
        return
    now, about = timezone.now(), {"run": run.pk, "run_name": run.name}
    messages = [
        (kind, body_of(kind, about | data, now)) for kind, data in tell(kinds) if kind in kinds
    ]
    queue_messages(hooks, messages, now)


def queue_messages(
    hooks: Iterable[Webhook], messages: Iterable[tuple[str, str]], now: datetime
) -> None:
    """Write these kinds and bodies down for those who want them, and have them sent soon."""
    told = list(messages)
    for hook in hooks:
        rows = [
            Delivery(webhook=hook, kind=kind, body=body, made=now, due=now)
            for kind, body in told
            if hook.wants(kind)
        ]
        if rows:
            Delivery.objects.bulk_create(rows, CHUNK)
            request_delivery(hook.pk)


def body_of(kind: str, data: dict[str, Any], at: datetime) -> str:
    """As the Standard Webhooks have it."""
    document = {"type": kind, "timestamp": at, "data": data}
    return json.dumps(document, cls=DjangoJSONEncoder, ensure_ascii=False)


def request_delivery(webhook_id: int) -> None:
    """Have what waits for this webhook sent, a moment after the present transaction commits."""
    # A lambda, because Django names a failing robust callback by its __qualname__.
    transaction.on_commit(lambda: _send_once(webhook_id), robust=True)


def _send_once(webhook_id: int) -> None:
    try:
        if cache.add(_cache_key(webhook_id), 1, KEY_SECONDS):
            current_app.send_task(TASK, [webhook_id], retry=False, ignore_result=True)
    except Exception:
        # Redis may be away: the messages are safe in the database, and the next sweep finds them.
        logger.warning("Could not ask for webhook %s to be served; the sweep will.", webhook_id)


def mark_received(webhook_id: int) -> None:
    """The message to Celery has arrived. Call before reading, so that no later one is lost."""
    try:
        cache.delete(_cache_key(webhook_id))
    except Exception:
        logger.warning("Redis does not answer: webhook %s may wait for a sweep.", webhook_id)


def _cache_key(webhook_id: int) -> str:
    return f"webhook:{webhook_id}"

"""The outbox: messages are stored in the transaction that they report.

So a message exists if and only if its event was committed. Without a subscribed webhook nothing is
stored, at the cost of one query.
"""

import json
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from selection import db_clock, extensions, wakeups
from selection.models import Delivery, Run, Webhook
from selection.outbox.celery_messages import request_task

TASK = "selection.tasks.deliver"
CHUNK = 1000
# The end of a run has its own message, and waiting for workers comes and goes.
NOT_TOLD = ("review", "waits")
NO_RUN = Q(pk__in=[])


class Message(NamedTuple):
    """A message: its kind as in Webhook.Event, and its JSON data after that of the run."""

    kind: str
    data: dict[str, Any]


def write_messages(run: Run, tell: Callable[[Collection[str]], Iterable[Message]]) -> None:
    """Store the messages about this run that the team's webhooks subscribe to.

    tell  builds the messages from the subscribed kinds; called only if there are any
    """
    write_team_messages(run.team_id, {"run": run.pk, "run_name": run.name}, tell)


def write_team_messages(
    team: int | None,
    about: dict[str, Any],
    tell: Callable[[Collection[str]], Iterable[Message]],
) -> None:
    """Store the messages that the team's webhooks subscribe to.

    about  data of the run or watch, which comes first in each
    """
    if wakeups.is_silenced():
        return  # simulated crowds send no messages
    hooks = list(Webhook.objects.filter(team=team, enabled=True))
    kinds = {kind for hook in hooks for kind in hook.events}
    if not kinds:
        return
    now = db_clock.database_now()
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
    """Write the message's body in the format of Standard Webhooks."""
    document = {"type": kind, "timestamp": at, "data": data}
    return json.dumps(document, cls=DjangoJSONEncoder, ensure_ascii=False)


def request_delivery(webhook_id: int) -> None:
    """Request delivery for this webhook, a moment after the current transaction commits."""
    request_task(TASK, webhook_id)


# -- alerts, each once


class Alert(Protocol):
    """An alert of a run, as in its report."""

    @property
    def kind(self) -> str: ...

    @property
    def words(self) -> str: ...


def notify_new_alerts(needs: Callable[[Run], Iterable[Alert]]) -> None:
    """Send the alerts that are new since the last check, for runs with a webhook or listeners.

    needs  returns a run's alerts (reports.list_alerts)
    """
    statuses = [Run.Status.RUNNING, Run.Status.PAUSED]
    heard: Any = Exists(Webhook.objects.filter(team=OuterRef("team"), enabled=True))
    for listener in extensions.ALERT_LISTENERS:
        heard |= listener.followed()
    for run in Run.objects.filter(heard, status__in=statuses):
        alerts = [alert for alert in needs(run) if alert.kind not in NOT_TOLD]
        kinds = sorted({alert.kind for alert in alerts})
        if kinds != run.alerts_sent:
            _notify_alerts(run, alerts, kinds)


@transaction.atomic
def _notify_alerts(run: Run, alerts: list[Alert], kinds: list[str]) -> None:
    # Of two concurrent sweeps only one sends.
    if not Run.objects.filter(pk=run.pk, alerts_sent=run.alerts_sent).update(alerts_sent=kinds):
        return
    new = [
        {"kind": alert.kind, "words": alert.words}
        for alert in alerts
        if alert.kind not in run.alerts_sent
    ]
    if new:
        write_messages(run, lambda kinds: [Message(Webhook.Event.ATTENTION, {"needs": new})])
        for listener in extensions.ALERT_LISTENERS:
            listener.tell(run, [alert["words"] for alert in new])

"""Webhook messages about the alerts of runs, once per alert."""

from collections.abc import Callable, Iterable
from typing import Protocol

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from selection.models import Run, Webhook

from .messages import Message, write_messages

Kind = Webhook.Event
# The end of a run has its own message, and waiting for workers comes and goes.
NOT_TOLD = ("review", "waits")
NO_RUN = Q(pk__in=[])


class Alert(Protocol):
    """An alert of a run, as in its report."""

    @property
    def kind(self) -> str: ...

    @property
    def words(self) -> str: ...


def notify_new_alerts(
    needs: Callable[[Run], Iterable[Alert]],
    followed: Q | Exists = NO_RUN,
    tell: Callable[[Run, list[str]], object] = lambda run, words: None,
) -> None:
    """Send the alerts that are new since the last check, for runs of teams with a webhook.

    needs     returns a run's alerts (reports.list_alerts)
    followed  condition of further runs to check
    tell      is called with a run and the words of its new alerts, in the same transaction
    """
    statuses = [Run.Status.RUNNING, Run.Status.PAUSED]
    hooks = Webhook.objects.filter(team=OuterRef("team"), on=True)
    for run in Run.objects.filter(Exists(hooks) | followed, status__in=statuses):
        alerts = [alert for alert in needs(run) if alert.kind not in NOT_TOLD]
        kinds = sorted({alert.kind for alert in alerts})
        if kinds != run.alerts_sent:
            _notify_alerts(run, alerts, kinds, tell)


@transaction.atomic
def _notify_alerts(
    run: Run, alerts: list[Alert], kinds: list[str], tell: Callable[[Run, list[str]], object]
) -> None:
    # Of two concurrent sweeps only one sends.
    if not Run.objects.filter(pk=run.pk, alerts_sent=run.alerts_sent).update(alerts_sent=kinds):
        return
    new = [
        {"kind": alert.kind, "words": alert.words}
        for alert in alerts
        if alert.kind not in run.alerts_sent
    ]
    if new:
        write_messages(run, lambda kinds: [Message(Kind.ATTENTION, {"needs": new})])
        tell(run, [alert["words"] for alert in new])

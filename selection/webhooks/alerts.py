"""Telling that a run needs somebody: once for each thing, not at every look."""

from collections.abc import Callable, Iterable
from typing import Protocol

from django.db import transaction
from django.db.models import Exists, OuterRef

from selection.models import Run, Webhook

from .outbox import Message, write_messages

Kind = Webhook.Event
# That a run has ended is a message of its own; that it waits for somebody comes and goes.
NOT_TOLD = ("review", "waits")


class Alert(Protocol):
    """What a report says that a run needs."""

    @property
    def kind(self) -> str: ...

    @property
    def words(self) -> str: ...


def notify_new_alerts(needs: Callable[[Run], Iterable[Alert]]) -> None:
    """Look at what runs need, where somebody listens, and tell what is new since the last look.

    needs  says it of a run (reports.needs)
    """
    going = [Run.Status.RUNNING, Run.Status.PAUSED]
    hooks = Webhook.objects.filter(team=OuterRef("team"), on=True)
    for run in Run.objects.filter(Exists(hooks), status__in=going):
        found = [need for need in needs(run) if need.kind not in NOT_TOLD]
        kinds = sorted({need.kind for need in found})
        if kinds != run.told:
            _notify_alerts(run, found, kinds)


@transaction.atomic
def _notify_alerts(run: Run, found: list[Alert], kinds: list[str]) -> None:
    # Of two sweeps at once one tells.
    if not Run.objects.filter(pk=run.pk, told=run.told).update(told=kinds):
        return
    new = [{"kind": one.kind, "words": one.words} for one in found if one.kind not in run.told]
    if new:
        write_messages(run, lambda kinds: [Message(Kind.ATTENTION, {"needs": new})])

"""Time in which nobody's answer could be taken counts against nobody."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from selection import clock
from selection.models import Assignment, Pulse, Run

from . import events

BEAT = timedelta(seconds=5)
AWAY = timedelta(seconds=20)  # without a beat: four are missing


def web_is_up(now: datetime | None = None) -> None:
    """Said by every web process every few seconds; the first after an outage gives its time back.

    Nothing is closed meanwhile: ``intake.expire`` goes by the last beat.
    """
    now = now or clock.now()
    last = Pulse.objects.seen(Pulse.WEB)
    if last is None:
        Pulse.objects.get_or_create(pk=Pulse.WEB, defaults={"at": now})
    elif now - last >= BEAT:
        _beat(now)


@transaction.atomic
def _beat(now: datetime) -> None:
    pulse = Pulse.objects.select_for_update().get(pk=Pulse.WEB)
    if now - pulse.at > AWAY:
        for run_id in Run.objects.running().values_list("pk", flat=True):
            _give_back(run_id, pulse.at, now)
    Pulse.objects.filter(pk=pulse.pk, at__lt=now).update(at=now)


def _give_back(run_id: int, since: datetime, until: datetime) -> None:
    run = Run.objects.locked(run_id)
    if run is None or run.status != Run.Status.RUNNING:
        return
    given = give_back(run, max(since, run.called or since), until)
    run.save(update_fields=["called"])
    if given:
        seconds = round((until - since).total_seconds())
        what = f"Answers could not be taken for {seconds} s: whoever held a question got them back."
        events.write(run, "outage", what)


def give_back(run: Run, since: datetime, until: datetime | None = None) -> int:
    """Whoever holds a question gets the time since then back; the caller saves the run.

    Returns how many questions were out whose time ran.
    """
    span = (until or clock.now()) - since
    open_ones = Assignment.objects.filter(candidate__run=run).open()
    given = open_ones.filter(due__gt=since).update(due=F("due") + span)
    run.candidates.filter(seen__lte=since).update(seen=F("seen") + span)
    if run.called is not None and run.called <= since:
        run.called += span
    return given

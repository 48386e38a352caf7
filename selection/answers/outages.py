"""Give time back in which no answer could be taken.

When the web's next beat comes more than 20 seconds after the last one, the web was away or
overloaded. The
moments by which people are judged and waited for are then moved along, in the transaction that
takes the beat: whoever judges by them goes by the last beat as well.
"""

from datetime import datetime, timedelta
from time import monotonic

from django.db import transaction
from django.db.models import F

from selection import db_clock
from selection.history import events
from selection.models import Assignment, Pulse, Run
from selection.models.answers import AssignmentQuerySet

BEAT = timedelta(seconds=5)
AWAY = timedelta(seconds=20)  # without a beat: four are missing


def record_heartbeat(now: datetime | None = None, waited: timedelta = timedelta()) -> None:
    """Said by every web process every few seconds; the first after an outage gives its time back.

    waited  how long ago the last requests arrived that were taken up: the web was there until then

    Nothing is closed meanwhile: ``AssignmentQuerySet.overdue`` goes by the last beat.
    """
    at, last = now or db_clock.database_now(), Pulse.objects.last_seen(Pulse.WEB)
    if last is None:
        Pulse.objects.get_or_create(pk=Pulse.WEB, defaults={"at": at - waited})
    elif abs(_web_up_until(at, last, waited) - last) >= BEAT:
        _record_beat(now, waited)


def _web_up_until(now: datetime, last: datetime, waited: timedelta) -> datetime:
    """Return until when the web was there: not before the last beat, unless the clock went back.

    Another process, whose requests wait for less time, may have said that beat.
    """
    return now if now < last else max(now - waited, last)


@transaction.atomic
def _record_beat(now: datetime | None, waited: timedelta) -> None:
    begun = monotonic()
    pulse = Pulse.objects.select_for_update().get(pk=Pulse.WEB)
    if now is None:  # as it is when it is this process's turn
        now, waited = db_clock.database_now(), waited + timedelta(seconds=monotonic() - begun)
    now = _web_up_until(now, pulse.at, waited)
    span = now - pulse.at
    if abs(span) < BEAT:
        return
    if span > AWAY:
        for run_id in Run.objects.running().values_list("pk", flat=True):
            _postpone_run(run_id, pulse.at, now)
    Pulse.objects.filter(pk=pulse.pk).update(at=now)


def _postpone_run(run_id: int, since: datetime, now: datetime) -> None:
    """Move what was before the outage along by it."""
    run = Run.objects.locked(run_id)
    if run is None or run.status != Run.Status.RUNNING:
        return
    span = now - since
    before = since + span / 2  # what happened after it was taken by the web that is back
    shown = _open_assignments(run).filter(shown__lte=before)
    ran = shown.filter(due__gt=since).exists()
    shown.update(due=F("due") + span)
    run.candidates.filter(seen__lte=before).update(seen=F("seen") + span)
    if run.called is not None and run.called <= before:
        run.called = min(run.called + span, now)
    if ran:
        what = f"Answers could not be taken for {_format_seconds(span)}"
        events.write_event(run, "outage", f"{what}: whoever held a question got them back.")
    run.save(update_fields=["called"])


def _open_assignments(run: Run) -> AssignmentQuerySet:
    return Assignment.objects.filter(candidate__run=run).open()


def _format_seconds(span: timedelta) -> str:
    return f"{round(span.total_seconds())} s"


def extend_deadlines(run: Run, since: datetime) -> None:
    """Whoever holds a question gets the time since then back; the caller saves the run."""
    span = db_clock.database_now() - since
    _open_assignments(run).filter(due__gt=since).update(due=F("due") + span)
    run.candidates.filter(seen__lte=since).update(seen=F("seen") + span)
    if run.called is not None and run.called <= since:
        run.called += span

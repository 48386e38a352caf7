"""Outages: time in which no answer could be recorded is given back.

If the web's next heartbeat comes more than 20 seconds after the last one, the web was away or
overloaded. The moments that decide about absence and deadlines are then moved by the outage, in the
transaction that stores the heartbeat: every check of them also uses the last heartbeat.
"""

from datetime import datetime, timedelta
from time import monotonic

from django.db import transaction
from django.db.models import F

from selection import db_clock
from selection.history import events
from selection.models import Assignment, GoldAnswer, Heartbeat, Run
from selection.models.answers import AssignmentQuerySet

HEARTBEAT_INTERVAL = timedelta(seconds=5)
OUTAGE_AFTER = timedelta(seconds=20)  # four missing heartbeats


def record_heartbeat(now: datetime | None = None, waited: timedelta = timedelta()) -> None:
    """Store a web process's heartbeat; the first one after an outage gives its time back.

    waited  age of the oldest requests taken up just now: the web was there until then

    Nothing is closed meanwhile: ``is_past_due`` uses the last heartbeat.
    """
    at, last = now or db_clock.database_now(), Heartbeat.objects.last_seen(Heartbeat.WEB)
    if last is None:
        Heartbeat.objects.get_or_create(pk=Heartbeat.WEB, defaults={"at": at - waited})
    elif abs(_web_up_until(at, last, waited) - last) >= HEARTBEAT_INTERVAL:
        _record_beat(now, waited)


def _web_up_until(now: datetime, last: datetime, waited: timedelta) -> datetime:
    """Tell until when the web was there: never before its last beat, unless the clock went back.

    Another process, whose requests wait for less time, may have sent that heartbeat.
    """
    return now if now < last else max(now - waited, last)


@transaction.atomic
def _record_beat(now: datetime | None, waited: timedelta) -> None:
    start = monotonic()
    heartbeat = Heartbeat.objects.select_for_update().get(pk=Heartbeat.WEB)
    if now is None:  # after waiting for the lock
        now, waited = db_clock.database_now(), waited + timedelta(seconds=monotonic() - start)
    now = _web_up_until(now, heartbeat.at, waited)
    span = now - heartbeat.at
    if abs(span) < HEARTBEAT_INTERVAL:
        return
    if span > OUTAGE_AFTER:
        for run_id in Run.objects.running().values_list("pk", flat=True):
            _postpone_run(run_id, heartbeat.at, now)
        gold = GoldAnswer.objects.filter(due__gt=heartbeat.at, watched__watch__stopped=None)
        gold.filter(at__lte=heartbeat.at + span / 2).update(due=F("due") + span)
    Heartbeat.objects.filter(pk=heartbeat.pk).update(at=now)


def _postpone_run(run_id: int, since: datetime, now: datetime) -> None:
    run = Run.objects.locked(run_id)
    if run is None or run.status != Run.Status.RUNNING:
        return
    span = now - since
    midpoint = since + span / 2  # later moments were recorded by the recovered web
    assignments = _open_assignments(run).filter(shown__lte=midpoint)
    ran = assignments.filter(due__gt=since).exists()
    assignments.update(due=F("due") + span)
    _open_assignments(run).filter(handed__lte=midpoint).update(handed=F("handed") + span)
    run.candidates.filter(seen__lte=midpoint).update(seen=F("seen") + span)
    if run.absence_since is not None and run.absence_since <= midpoint:
        run.absence_since = min(run.absence_since + span, now)
    if ran:
        text = f"Answers could not be taken for {round(span.total_seconds())} s"
        events.write_event(run, "outage", f"{text}: whoever held a question got them back.")
    run.save(update_fields=["absence_since"])


def _open_assignments(run: Run) -> AssignmentQuerySet:
    return Assignment.objects.filter(candidate__run=run).open()


def extend_deadlines(run: Run, since: datetime) -> None:
    span = db_clock.database_now() - since
    _open_assignments(run).filter(due__gt=since).update(due=F("due") + span)
    _open_assignments(run).filter(handed__lte=since).update(handed=F("handed") + span)
    run.candidates.filter(seen__lte=since).update(seen=F("seen") + span)
    if run.absence_since is not None and run.absence_since <= since:
        run.absence_since += span

"""Celery tasks: ids in, one service call. Each may run twice, late, or never."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from celery import Task, shared_task
from celery.signals import worker_ready
from django.db import DatabaseError
from django.utils import timezone

from . import actor, audit, db_clock, engine, privacy, reports, wakeups, webhooks
from .answers import recording
from .engine import late_regrades
from .errors import Busy, cannot_write
from .forecast import forecast_requests, running_forecast
from .imports import uploads
from .models import Creation, Pulse, Run
from .runs import roster, roster_opening

logger = logging.getLogger(__name__)

CREATIONS_KEPT = timedelta(days=1)
AT_ONCE = 20
# A child that is frozen is replaced after so many seconds; the next sweep sees to what it had.
FROZEN = 600


class Patient(Task):  # type: ignore[misc]
    """What the database cannot take now is left to the sweep: one line in the log, no traceback."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except DatabaseError as error:
            if not cannot_write(error):
                raise
            logger.warning("%s is for the next sweep: %s", self.name, error)
            return None


@shared_task(base=Patient, time_limit=FROZEN)
def advance(run_id: int) -> None:
    """A run that is held, by whomever, keeps no process from the other runs: it is for later."""
    wakeups.received(run_id)
    try:
        with actor.by_part("engine"):
            step = engine.advance(run_id, wait=False)
        if step:
            told = {"run": run_id, "step": step.number}
            logger.info("Step %s of run %s.", step.number, run_id, extra=told)
    except Busy:
        wakeups.request(run_id)


@shared_task(base=Patient)
def forecast(part_id: int, runs: int) -> None:
    forecast_requests.work(part_id, runs)


@shared_task(base=Patient)
def outlook(run_id: int) -> None:
    running_forecast.refresh(run_id)


@shared_task(base=Patient)
def deliver(webhook_id: int) -> None:
    webhooks.drain(webhook_id)


@shared_task(base=Patient)
def sort_upload(upload_id: str) -> None:
    uploads.work(upload_id)


@worker_ready.connect
def catch_up(**signal: object) -> None:
    """Do not leave what happened while no worker was there to the next sweep."""
    sweep.delay()


@shared_task(base=Patient)
def retain() -> None:
    """Nothing, where all is kept for good."""
    privacy.retain()


@shared_task(base=Patient, time_limit=FROZEN)
def sweep() -> None:
    """Make up for every message that was lost, and close what is overdue.

    A part that the database refuses, as when a run is held for long, is for the next sweep. One
    that fails otherwise is written down; the others go on.
    """
    with actor.by_part("sweep"):
        for part in PARTS:
            _try(part)
    Pulse.objects.update_or_create(pk=Pulse.SWEEP, defaults={"at": db_clock.now()})


def _try(part: Callable[[], object]) -> None:
    try:
        part()
    except DatabaseError as error:
        logger.warning("%s is for the next sweep: %s", part.__name__, error)
    except Exception:
        logger.exception("%s failed; the next sweep tries again.", part.__name__)


def wake_all() -> None:
    for run_id in Run.objects.running().values_list("id", flat=True):
        wakeups.send(run_id, delay=0)


def tell_needs() -> None:
    webhooks.attention(reports.needs)


def forget_keys() -> None:
    Creation.objects.filter(created__lt=timezone.now() - CREATIONS_KEPT).delete()


def expire() -> None:
    """Many at once, as after an outage, are worth an entry; one now and then is not."""
    for run_id, count in recording.lapse().items():
        if count >= AT_ONCE:
            run = Run.objects.get(pk=run_id)
            audit.note("expired", run, who=actor.part(), after={"answers not in time": count})


PARTS: list[Callable[[], object]] = [
    expire,
    late_regrades.sweep,
    wake_all,
    roster_opening.close_due,
    roster.sweep,
    uploads.sweep,
    forget_keys,
    forecast_requests.sweep,
    running_forecast.sweep,
    tell_needs,
    webhooks.sweep,
]

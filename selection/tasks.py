"""Celery tasks: ids in, one service call. Each may run twice, late, or never."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from celery import Task, shared_task
from celery.signals import worker_ready
from django.db import DatabaseError

from . import (
    actor,
    audit,
    connectors,
    db_clock,
    engine,
    extensions,
    privacy,
    reports,
    wakeups,
    webhooks,
)
from .answers import overdue
from .engine import late_regrades
from .errors import Busy, cannot_write
from .forecast import running_forecast
from .imports import uploads
from .model_workers import dispatcher
from .model_workers import testing as testing  # registers its jobs
from .models import Heartbeat, IdempotencyKey, Run
from .outbox import jobs
from .outbox.celery_messages import mark_received
from .runs.roster import failing_models, membership, roster_opening
from .runs.roster import model_checks as model_checks  # registers its jobs
from .watches import steps

logger = logging.getLogger(__name__)

KEYS_KEPT = timedelta(days=1)
AT_ONCE = 20
# A frozen child is replaced after so many seconds; the next sweep makes up for its task.
FROZEN = 600


class Patient(Task):  # type: ignore[misc]
    """Task that leaves its work to the sweep if the database cannot be written to.

    It logs one line instead of a traceback.
    """

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
    """Advance a run. A run held by another process is postponed, and delays no other run."""
    mark_received(wakeups.TASK, run_id)
    try:
        with actor.acting_as_part("engine"):
            failing_models.sweep_failing(run_id)
            step = engine.advance(run_id, wait=False)
        if step:
            dispatcher.request_calls(run_id)
            connectors.request_exchanges(run_id)
            context = {"run": run_id, "step": step.number}
            logger.info("Step %s of run %s.", step.number, run_id, extra=context)
    except Busy:
        wakeups.request_step(run_id)


@shared_task(base=Patient)
def forecast_run(run_id: int) -> None:
    running_forecast.refresh_forecast(run_id)


@shared_task(base=Patient)
def deliver(webhook_id: int) -> None:
    webhooks.send_due(webhook_id)


@shared_task(base=Patient, time_limit=FROZEN)
def exchange(connection_id: int) -> None:
    with actor.acting_as_part("connectors"):
        connectors.exchange(connection_id, polls=False)


@shared_task(base=Patient, time_limit=FROZEN)
def poll_tool(connection_id: int) -> None:
    """Make the due calls of a connection, and fetch the news."""
    with actor.acting_as_part("connectors"):
        connectors.exchange(connection_id)


@shared_task(base=Patient)
def call_models() -> None:
    with actor.acting_as_part("models"):
        dispatcher.make_calls_alone()


@shared_task(base=Patient)
def work_on_job(job_id: str) -> None:
    jobs.work_on_job(job_id)


@shared_task(base=Patient)
def work_on_long_job(job_id: str) -> None:
    jobs.work_on_job(job_id)


@shared_task(base=Patient, time_limit=FROZEN)
def advance_watch(watch_id: int) -> None:
    with actor.acting_as_part("watch"):
        steps.advance_watch(watch_id)


@worker_ready.connect
def catch_up(**signal: object) -> None:
    """Sweep at once when a worker starts, instead of waiting for the schedule."""
    sweep.delay()


@shared_task(base=Patient)
def retain() -> None:
    """Delete data that is past its retention period; nothing by default."""
    privacy.apply_retention()


@shared_task(base=Patient, time_limit=FROZEN)
def sweep() -> None:
    """Make up for every message that was lost, and close overdue assignments.

    A part that fails because the database refuses it, for example because a run is held for long,
    is left to the next sweep. Other failures are logged, and the remaining parts go on.
    """
    with actor.acting_as_part("sweep"):
        for part in [*PARTS, *extensions.SWEEPS]:
            _try_part(part)
    Heartbeat.objects.update_or_create(pk=Heartbeat.SWEEP, defaults={"at": db_clock.database_now()})


def _try_part(part: Callable[[], object]) -> None:
    try:
        part()
    except DatabaseError as error:
        logger.warning("%s is for the next sweep: %s", part.__name__, error)
    except Exception:
        logger.exception("%s failed; the next sweep tries again.", part.__name__)


def wake_all() -> None:
    for run_id in Run.objects.running().values_list("id", flat=True):
        wakeups.send_step(run_id, delay=0)


def tell_needs() -> None:
    webhooks.notify_new_alerts(reports.list_alerts)


def forget_keys() -> None:
    IdempotencyKey.objects.filter(created__lt=db_clock.database_now() - KEYS_KEPT).delete()


def expire() -> None:
    """Close overdue assignments. Many at once, for example after an outage, get an audit entry."""
    for run_id, count in overdue.expire_overdue().items():
        if count >= AT_ONCE:
            run = Run.objects.get(pk=run_id)
            audit.record_entry(
                "expired", run, who=actor.part(), after={"answers not in time": count}
            )


PARTS: list[Callable[[], object]] = [
    dispatcher.sweep_calls,
    expire,
    late_regrades.sweep_late_regrades,
    wake_all,
    roster_opening.close_due,
    membership.sweep_absent,
    failing_models.sweep_failing,
    uploads.sweep_uploads,
    forget_keys,
    jobs.sweep_jobs,
    running_forecast.sweep_run_forecasts,
    tell_needs,
    steps.sweep_watches,
    webhooks.sweep_deliveries,
    connectors.sweep_connections,
]

"""Celery tasks: ids in, one service call. Each may run twice, late, or never."""

from datetime import timedelta

from celery import shared_task
from celery.signals import worker_ready
from django.utils import timezone

from . import audit, engine, intake, wake
from .forecast import orders, outlooks
from .models import Run, Upload
from .setup import joining, roster

UPLOADS_KEPT = timedelta(days=1)


@shared_task
def advance(run_id: int) -> None:
    wake.received(run_id)
    engine.advance(run_id)


@shared_task
def forecast(part_id: int, runs: int) -> None:
    orders.work(part_id, runs)


@shared_task
def outlook(run_id: int) -> None:
    outlooks.refresh(run_id)


@worker_ready.connect
def catch_up(**signal: object) -> None:
    """Do not leave what happened while no worker was there to the next sweep."""
    sweep.delay()


@shared_task
def sweep() -> None:
    """Make up for every message that was lost, and close what is overdue."""
    intake.expire()
    joining.close_due()
    roster.sweep()
    audit.seal()
    for run_id in Run.objects.running().values_list("id", flat=True):
        wake.send(run_id, delay=0)
    Upload.objects.filter(created__lt=timezone.now() - UPLOADS_KEPT).delete()
    orders.sweep()
    outlooks.sweep()

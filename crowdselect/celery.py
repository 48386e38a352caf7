"""The Celery application. Tasks are found in ``selection.tasks`` and ``research.tasks``."""

import os
import sys

from celery import Celery
from celery.signals import beat_init, worker_init, worker_process_init
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from . import tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")

app = Celery("crowdselect", include=["research.tasks"])
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def refuse_bad_settings(**signal: object) -> None:
    """As every command does. Only this ends a worker: other errors in a signal are passed over."""
    try:
        call_command("check")
    except SystemCheckError as error:
        sys.exit(str(error))


@worker_process_init.connect
def trace_work(**signal: object) -> None:
    """In each child, as threads do not survive a fork."""
    tracing.start("worker")


@beat_init.connect
def trace_beat(**signal: object) -> None:
    tracing.start("beat")

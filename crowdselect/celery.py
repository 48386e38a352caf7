"""The Celery application. Tasks are found in ``selection.tasks`` and ``research.tasks``."""

import os
import sys
import threading

from celery import Celery
from celery.signals import beat_init, worker_init, worker_process_init, worker_shutting_down
from django.conf import settings
from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from . import broker
from .web import tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")
# Celery would run every check of Django's, pages and all, and not look at what they find.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

broker.install_transport()
app = Celery("crowdselect", include=["research.tasks"])
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def refuse_bad_settings(**signal: object) -> None:
    """As every command does. Only this ends a worker: other errors in a signal are passed over.

    The checks of pages are left to those who serve them.
    """
    try:
        call_command("check", tags=[Tags.compatibility])
    except SystemCheckError as error:
        sys.exit(str(error))


@worker_process_init.connect
def trace_work(**signal: object) -> None:
    """In each child, as threads do not survive a fork."""
    tracing.start_tracing("worker")


@beat_init.connect
def trace_beat(**signal: object) -> None:
    tracing.start_tracing("beat")


@worker_shutting_down.connect
def end_in_time(**signal: object) -> None:
    """Whoever told a worker to end waits for it, and so does what would start another.

    It waits for its children, of which one may be frozen, or wait for it in turn. They end with it,
    and what they had comes again.
    """
    ending = threading.Timer(settings.WORKER_ENDS_SECONDS, os._exit, [1])
    ending.daemon = True
    ending.start()

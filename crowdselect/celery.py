"""The Celery application, with the tasks of ``selection.tasks``."""

import gc
import os
import sys
import threading
import time
from importlib import import_module

from celery import Celery
from celery.signals import (
    beat_embedded_init,
    beat_init,
    worker_init,
    worker_process_init,
    worker_shutting_down,
)
from django.conf import settings
from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from . import broker
from .web import tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")
# Celery would run every check of Django's, including those of pages, and ignore the results.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

broker.install_transport()
app = Celery("crowdselect")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def refuse_bad_settings(**signal: object) -> None:
    """End the worker if a setting is invalid: other errors in a signal would be ignored.

    Checks of pages are left to the web server.
    """
    try:
        call_command("check", tags=[Tags.compatibility])
    except SystemCheckError as error:
        sys.exit(str(error))


@worker_init.connect
def share_memory(**signal: object) -> None:
    """Keep the imported modules out of garbage collection, which would copy them in each child."""
    import_module("topk.compiling")
    gc.collect()
    gc.freeze()


@worker_process_init.connect
def trace_work(**signal: object) -> None:
    """Start tracing in each child, because threads do not survive a fork."""
    tracing.start_tracing("worker")


@beat_init.connect
def trace_beat(**signal: object) -> None:
    tracing.start_tracing("beat")


@beat_embedded_init.connect
def end_with_worker(**signal: object) -> None:
    """End a beat inside a worker soon after the worker: a killed worker cannot end it."""
    threading.Thread(target=_end_after, args=(os.getppid(),), daemon=True).start()


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@worker_shutting_down.connect
def end_in_time(**signal: object) -> None:
    """End the worker after a timeout, because its caller and its replacement wait for it.

    It waits for its children, which may be frozen, or wait for it in turn. They end with it, and
    their tasks are delivered again.
    """
    ending = threading.Timer(settings.WORKER_ENDS_SECONDS, os._exit, [1])
    ending.daemon = True
    ending.start()

"""The Celery task of the calls: requested after steps, done by one process at a time."""

import logging
import uuid

from django.core.cache import cache

from selection.models import Candidate
from selection.outbox import celery_messages

from . import dispatcher, ledger

logger = logging.getLogger(__name__)

TASK = "selection.tasks.call_models"
LOCK, LOCK_SECONDS = "model-calls", 60
# Seconds of a task: at most, and without anything to do. At its end it waits for its slowest call
# and begins none, so the end must be rare.
WORKING, IDLE = 300.0, 3.0


def request_calls(run_id: int) -> None:
    if Candidate.objects.filter(run=run_id, worker__endpoint__isnull=False).exists():
        celery_messages.request_task(TASK)


def make_calls_alone() -> None:
    """Make calls, unless another process does; ask for another task if there is more to do.

    Only the rates and concurrency of servers rest on being alone: the ledger is safe in any case.
    """
    celery_messages.mark_received(TASK)
    name = uuid.uuid4().hex
    if not cache.add(LOCK, name, LOCK_SECONDS):
        return
    try:
        more = dispatcher.make_calls(WORKING, IDLE, lambda: cache.touch(LOCK, LOCK_SECONDS))
    finally:
        if cache.get(LOCK) == name:
            cache.delete(LOCK)
    if more:
        celery_messages.request_task(TASK)


def sweep_calls() -> None:
    """Close calls of processes that ended, and request the calls whose request was lost."""
    if closed := ledger.close_interrupted():
        logger.warning("%s calls of models were interrupted.", closed)
    for server in dispatcher.list_servers():
        if dispatcher.list_callable(server, None, 1).exists():
            celery_messages.request_task(TASK)
            return

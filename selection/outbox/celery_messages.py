"""Messages to Celery. Each may be lost: the database has the work, and a sweep sends again."""

import logging
from typing import Any

from celery import current_app
from django.core.cache import cache
from django.db import transaction

logger = logging.getLogger(__name__)

# Redis hands out lower numbers first: what a page waits for comes before what nobody waits for.
AWAITED, BACKGROUND = 0, 6
# If the message is lost, its key must not suppress later ones for long.
KEY_SECONDS = 10


def send_message(task: str, ids: Any, **how: Any) -> None:
    current_app.send_task(task, ids, retry=False, ignore_result=True, **how)


def request_task(task: str, *ids: int) -> None:
    """Request a task after the current transaction commits, once until ``mark_received``."""
    # A lambda, because Django logs a failing robust callback by its __qualname__.
    transaction.on_commit(lambda: send_once(task, *ids), robust=True)


def send_once(task: str, *ids: int, seconds: float = KEY_SECONDS, **how: Any) -> None:
    """Send the message, unless one was sent in so many seconds and has not been received."""
    try:
        if cache.add(cache_key(task, *ids), 1, seconds):
            send_message(task, ids, **how)
    except Exception:
        # If Redis is down, the work is safe in the database, and the next sweep finds it.
        logger.warning("Could not send %s %s; the sweep will.", task, ids)


def mark_received(task: str, *ids: int) -> None:
    """Note that a message arrived. Call before reading rows, so that no later request is lost."""
    try:
        cache.delete(cache_key(task, *ids))
    except Exception:
        logger.warning("Redis does not answer: %s %s may wait for a sweep.", task, ids)


def cache_key(task: str, *ids: int) -> str:
    return ":".join(map(str, (task, *ids)))

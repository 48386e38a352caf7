"""Messages to Celery about jobs that the database stores."""

import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from celery import current_app
from django.db.models import QuerySet

from selection import db_clock

logger = logging.getLogger(__name__)

# Redis hands out lower numbers first: what a page waits for comes before what makes it complete,
# and that before what nobody waits for.
AWAITED, COMPLETING, BACKGROUND = 0, 3, 6


def hand_out(
    task: str,
    jobs: QuerySet[Any],
    messages: Iterable[Sequence[Any]],
    lost: timedelta,
    priority: int = AWAITED,
) -> None:
    """Send these messages for the jobs; if Redis is unreachable, the sweep does it later.

    jobs  have a column ``sent``: the time of the latest message, empty if there is none
    lost  the time after which the sweep hands out a job again
    """
    jobs.update(sent=db_clock.database_now())
    try:
        for message in messages:
            # With few workers a message waits for long, and the job is handed out again: without
            # an expiry of the first message there would be ever more of them.
            seconds = lost.total_seconds()
            current_app.send_task(
                *(task, message),
                retry=False,
                ignore_result=True,
                expires=seconds,
                priority=priority,
            )
    except Exception:
        jobs.update(sent=None)
        logger.warning("Could not send %s; the sweep will.", task)

"""Queues in the database: rows handed out to Celery, worked on at least once, swept if lost.

A ``WorkQueue`` has a message for each row. Rows with a time ``due`` go out one after another, by a
task for their webhook, connection or server: ``lease_row``, ``work_through``, ``retry_time``.
"""

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from selection import db_clock

from .celery_messages import AWAITED, send_message

logger = logging.getLogger(__name__)

# A task works for this long, then hands over to another.
AT_ONCE_SECONDS = 20.0
# Delays after the first try, the second, and so on; the last try is 9 hours after the first.
DELAYS = [timedelta(seconds=s) for s in (5, 30, 120, 600, 1800, 7200, 21600)]
MOST_TRIES = len(DELAYS) + 1
SPREAD = 0.2  # share of a delay, so that rows that failed together are not retried together
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class WorkQueue:
    """Rows that tasks work on.

    task   takes the id of a row
    waits  condition of the rows to work on
    lost   time after the latest message (``sent``) after which the sweep hands out a row again
    """

    model: type[Model]
    task: str
    waits: Q
    lost: timedelta

    def hand_out(self, rows: QuerySet[Any]) -> None:
        """Send a message for each row; if Redis is unreachable, the sweep does it later."""
        ids = list(rows.values_list("pk", flat=True))
        sent = self.model._default_manager.filter(self.waits, pk__in=ids)
        sent.update(sent=db_clock.database_now())
        try:
            for pk in ids:
                # With few workers a message waits for long, and the row is handed out again:
                # without an expiry of the first message there would be ever more of them.
                seconds = self.lost.total_seconds()
                send_message(self.task, [str(pk)], expires=seconds, priority=AWAITED)
        except Exception:
            sent.update(sent=None)
            logger.warning("Could not send %s; the sweep will.", self.task)

    def sweep(self) -> None:
        """Hand out rows again whose latest message counts as lost."""
        stale = Q(sent=None) | Q(sent__lt=db_clock.database_now() - self.lost)
        self.hand_out(self.model._default_manager.filter(self.waits, stale))


def lease_row(row: Model, ready: QuerySet[Any], lease: timedelta, **columns: Any) -> bool:
    """Lease the row if it is ready and still as it was read; False if another process has it.

    If the process is killed, the row is due again after the lease.
    """
    # The columns are compared in the updated row itself, too: PostgreSQL, after waiting for another
    # process, looks at the row anew, and not at the subquery.
    same = {name: getattr(row, name) for name in ("pk", "due", "tries")}
    rows = type(row)._default_manager.filter(**same, pk__in=ready.filter(pk=row.pk).values("pk"))
    return bool(rows.update(due=db_clock.database_now() + lease, **columns))


def work_through(
    take: Callable[[], Row | None],
    attempt: Callable[[Row], bool],
    request: Callable[[], object],
    failures: int,
) -> None:
    """Attempt one row after another until none is due, or so many in a row have failed.

    take     returns the next row
    attempt  returns False for a failure that may be of the other rows as well
    request  asks for another task, once this one has worked for long
    """
    until, failed = monotonic() + AT_ONCE_SECONDS, 0
    while failed < failures and (row := take()) is not None:
        failed = 0 if attempt(row) else failed + 1
        if failed < failures and monotonic() > until:
            request()
            return


def retry_time(tries: int, now: datetime) -> datetime | None:
    """Choose the time of the next attempt after so many; None after the last one."""
    if tries >= MOST_TRIES:
        return None
    return now + DELAYS[tries - 1] * random.uniform(1 - SPREAD, 1 + SPREAD)

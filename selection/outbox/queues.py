"""Queues in the database: rows with a time ``due``, which go out one after another.

They have a task for their webhook, connection or server.
"""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from selection import db_clock

# A task works for this long, then hands over to another.
AT_ONCE_SECONDS = 20.0
# Delays after the first try, the second, and so on; the last try is 9 hours after the first.
DELAYS = [timedelta(seconds=s) for s in (5, 30, 120, 600, 1800, 7200, 21600)]
MOST_TRIES = len(DELAYS) + 1
SPREAD = 0.2  # share of a delay, so that rows that failed together are not retried together
Row = TypeVar("Row", bound=Model)


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

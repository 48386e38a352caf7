"""The one clock of all hosts: one host starts a worker's deadline, another finds it passed.

Every time that is stored, or compared with a stored one, is ``database_now()``, or
``request_time()`` for the arrival of a request. A host's own clock (``timezone.now``) decides only
what every request asks and a minute more or less does not change: whether a token has expired, and
whether a worker's visit is to be noted again. ``auto_now_add`` uses it too, for times that decide
about days only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from time import monotonic

from django.db import connection
from django.utils import timezone

_arrived: ContextVar[float | None] = ContextVar("arrived", default=None)


def database_now() -> datetime:
    """Read the database's time. An SQLite file is on one host, so the host's clock will do."""
    if connection.vendor == "sqlite":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now


@contextmanager
def request_arrived(moment: float | None) -> Iterator[None]:
    """Answer in this block a request that arrived at this moment of the clock ``monotonic``.

    moment  None if the web server does not report it: then it arrived just now
    """
    token = _arrived.set(moment)
    try:
        yield
    finally:
        _arrived.reset(token)


def waited() -> timedelta:
    moment = _arrived.get()
    return timedelta(seconds=max(0.0, monotonic() - moment)) if moment else timedelta()


def request_time() -> datetime:
    """Read the present request's arrival by the database's clock; now outside of requests."""
    return database_now() - waited()

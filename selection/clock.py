"""What time it is for all hosts alike: one begins a worker's time, another finds it over."""

from datetime import datetime

from django.db import connection
from django.utils import timezone


def now() -> datetime:
    """The database's time. An SQLite file lies on one host, and that one's clock is its own."""
    if connection.vendor == "sqlite":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        at: datetime = cursor.fetchone()[0]
        return at

"""State of the system: the parts that work, and the work that waits for them."""

from datetime import datetime, timedelta
from pathlib import Path
from shutil import disk_usage

from celery import current_app
from celery.exceptions import OperationalError
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.models import Count, Min, Sum
from redis import Redis, RedisError

from selection import db_clock
from selection.facts import Facts
from selection.models import Answer, Heartbeat, Run

from .durations import format_duration

# Longest time without a sweep, unless three intervals of the sweep are longer.
UNSWEPT = timedelta(minutes=2)
# Age of a stuck answer: longer than an answer waits for an earlier one of the same worker, which
# takes at most the time to answer.
STUCK = timedelta(hours=1)
# Longest gap between heartbeats of the web, which come every five seconds.
SILENT = timedelta(seconds=30)
PRIORITY_LISTS = ("", *(f"\x06\x16{step}" for step in (3, 6, 9)))  # as kombu names them
LEAST_FREE = 20_000_000  # bytes on the disk of an SQLite file
FULL = "Its disk is full: nothing can be saved. Make room, or move the data."
READ_ONLY = "It responds, but is read-only: nothing can be saved."


def _part(name: str, well: bool, words: str) -> Facts:
    """Describe a part; ``words`` has its state, and how to repair it if it does not work."""
    return Facts(name=name, well=well, words=words)


def system_parts() -> list[Facts]:
    try:
        now = db_clock.database_now()
        beats = dict(Heartbeat.objects.values_list("name", "at"))
        fault = _find_write_fault()
    except DatabaseError as error:
        return [_part("Database", False, f"It does not respond: {error}".strip())]
    return [
        _part("Database", not fault, fault or "It responds."),
        _web_part(beats.get(Heartbeat.WEB), now),
        _redis_part(),
        _background_part(beats.get(Heartbeat.SWEEP), now),
    ]


def _find_write_fault() -> str:
    """Find why nothing can be written; empty if it can.

    A standby, or a primary during a failover. On a full disk SQLite still updates single rows, such
    as the heartbeat of the web, and no answer can be stored; PostgreSQL refuses both.
    """
    if connection.vendor == "sqlite":
        free = disk_usage(Path(connection.settings_dict["NAME"]).parent).free
        return FULL if free < LEAST_FREE else ""
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return "" if cursor.fetchone()[0] == "off" else READ_ONLY


def system_load() -> Facts:
    now = db_clock.database_now()
    running = Run.objects.running()
    waiting = Answer.objects.filter(applied_in=None, run__in=running)
    backlog = waiting.aggregate(count=Count("pk"), first=Min("at"))
    lag = (now - backlog["first"]).total_seconds() if backlog["first"] else 0.0
    return Facts(
        running=running.count(),
        stuck=waiting.filter(at__lt=now - STUCK).values("run").distinct().count(),
        answers=Answer.objects.count(),
        steps=Run.objects.aggregate(steps=Sum("steps"))["steps"] or 0,
        waiting=backlog["count"],
        lag=max(0.0, lag),
        queued=_queue_lengths(),
    )


def background_delay(last: datetime | None, now: datetime) -> timedelta | None:
    most = max(UNSWEPT, 3 * timedelta(seconds=settings.SWEEP_SECONDS))
    return None if last is not None and now - last < most else now - (last or now)


def redis_answers() -> bool:
    try:
        cache.get("anything")
    except Exception:  # any failure counts
        return False
    return True


def _web_part(last: datetime | None, now: datetime) -> Facts:
    if last is None:
        return _part("Web", True, "No heartbeat yet, but this page shows that it works.")
    if now - last > SILENT:
        message = (
            f"It last took answers {format_duration(now - last)} ago; workers get this time back."
        )
        return _part("Web", False, message)
    return _part("Web", True, "It takes answers.")


def _redis_part() -> Facts:
    if redis_answers():
        return _part("Redis", True, "It responds.")
    return _part("Redis", False, "It does not respond: start it, or check REDIS_URL.")


def _background_part(last: datetime | None, now: datetime) -> Facts:
    name = "Background"
    span = background_delay(last, now)
    if span is None:
        message = f"Last sweep {format_duration(now - last)} ago." if last else ""
        return _part(name, True, message)
    ago = f"No heartbeat for {format_duration(span)}" if last else "No heartbeat yet"
    return _part(name, False, f"{ago}: check that a Celery worker and Celery beat are running.")


def celery_workers() -> list[str]:
    """Name the workers that reply within a second; none if Redis is unreachable."""
    if not redis_answers():
        return []
    try:
        return sorted(current_app.control.inspect(timeout=1.0).ping() or {})
    except (RedisError, OperationalError):
        return []


def _queue_lengths() -> dict[str, int]:
    if not redis_answers():
        return {}
    seconds = settings.REDIS_SECONDS
    patience = {"socket_timeout": seconds, "socket_connect_timeout": seconds}
    try:
        with Redis.from_url(settings.REDIS_URL, **patience) as broker:
            return {
                name: sum(int(broker.llen(f"{name}{step}")) for step in PRIORITY_LISTS)
                for name in settings.CELERY_TASK_QUEUES
            }
    except RedisError:
        return {}

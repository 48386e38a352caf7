"""State of the system: the parts that work, and the work that waits for them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from celery import current_app
from celery.exceptions import OperationalError
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.models import Count, Min, Sum
from redis import Redis, RedisError

from selection import db_clock
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
READ_ONLY = "It responds, but is read-only: nothing can be saved."


@dataclass(frozen=True)
class SystemPart:
    """A part of the system.

    well   True if it works
    words  its state, and how to repair it if it does not work
    """

    name: str
    well: bool
    words: str


@dataclass(frozen=True)
class SystemLoad:
    """Work done and waiting.

    running  runs that go on
    stuck    those in which an answer has waited for an hour
    answers  taken in all
    steps    taken in all
    waiting  answers that no step has counted yet, of runs that go on
    lag      seconds that the oldest of them has waited
    queued   messages that no Celery worker has taken, by queue; empty if Redis is unreachable
    """

    running: int
    stuck: int
    answers: int
    steps: int
    waiting: int
    lag: float
    queued: dict[str, int]


def system_parts(now: datetime | None = None) -> list[SystemPart]:
    try:
        now = now or db_clock.database_now()
        beats = dict(Heartbeat.objects.values_list("name", "at"))
        writable = _is_writable()
    except DatabaseError as error:
        return [SystemPart("Database", False, f"It does not respond: {error}".strip())]
    return [
        SystemPart("Database", writable, "It responds." if writable else READ_ONLY),
        _web_part(beats.get(Heartbeat.WEB), now),
        _redis_part(),
        _background_part(beats.get(Heartbeat.SWEEP), now),
    ]


def _is_writable() -> bool:
    """Return False for a read-only PostgreSQL: a standby, or a primary during a failover."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone()[0] == "off")


def system_load(now: datetime | None = None) -> SystemLoad:
    now = now or db_clock.database_now()
    running = Run.objects.running()
    waiting = Answer.objects.filter(applied_in=None, run__in=running)
    backlog = waiting.aggregate(count=Count("pk"), first=Min("at"))
    lag = (now - backlog["first"]).total_seconds() if backlog["first"] else 0.0
    return SystemLoad(
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


def _web_part(last: datetime | None, now: datetime) -> SystemPart:
    if last is None:
        return SystemPart("Web", True, "No heartbeat yet, but this page shows that it works.")
    if now - last > SILENT:
        message = (
            f"It last took answers {format_duration(now - last)} ago; workers get this time back."
        )
        return SystemPart("Web", False, message)
    return SystemPart("Web", True, "It takes answers.")


def _redis_part() -> SystemPart:
    if redis_answers():
        return SystemPart("Redis", True, "It responds.")
    return SystemPart("Redis", False, "It does not respond: start it, or check REDIS_URL.")


def _background_part(last: datetime | None, now: datetime) -> SystemPart:
    name = "Background"
    span = background_delay(last, now)
    if span is None:
        message = f"Last sweep {format_duration(now - last)} ago." if last else ""
        return SystemPart(name, True, message)
    ago = f"No heartbeat for {format_duration(span)}" if last else "No heartbeat yet"
    return SystemPart(
        name, False, f"{ago}: check that a Celery worker and Celery beat are running."
    )


def celery_workers() -> list[str]:
    """Return the names of the workers that reply within a second; none if Redis is unreachable."""
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

"""How the system is: which parts are at work, and what waits for them."""

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
from selection.models import Answer, Pulse, Run

from .durations import format_duration

# No sweep for so long, or three times as long as there should be one.
UNSWEPT = timedelta(minutes=2)
# An answer that waits for an earlier one of its worker waits longer, at most its time to answer.
STUCK = timedelta(hours=1)
# The web says every five seconds that it is there.
SILENT = timedelta(seconds=30)
READ_ONLY = "It answers, but takes no changes: nothing that is sent can be kept."


@dataclass(frozen=True)
class SystemPart:
    """well  whether it is at work
    words  how it is, and what to do where it is not
    """

    name: str
    well: bool
    words: str


@dataclass(frozen=True)
class SystemLoad:
    """running  runs that go on
    stuck    those of them in which an answer has waited for an hour
    answers  taken in all
    steps    taken in all
    waiting  answers that no step has taken yet, of runs that go on
    lag      seconds that the oldest of them has waited
    queued   messages that no Celery worker has taken, by queue; empty where Redis is away
    """

    running: int
    stuck: int
    answers: int
    steps: int
    waiting: int
    lag: float
    queued: dict[str, int]


def system_parts(now: datetime | None = None) -> list[SystemPart]:
    """The database first: without it nothing else is known."""
    try:
        now = now or db_clock.database_now()
        beats = dict(Pulse.objects.values_list("name", "at"))
        writable = _is_writable()
    except DatabaseError as error:
        return [SystemPart("Database", False, f"It does not answer: {error}".strip())]
    return [
        SystemPart("Database", writable, "It answers." if writable else READ_ONLY),
        _web_part(beats.get(Pulse.WEB), now),
        _redis_part(),
        _background_part(beats.get(Pulse.SWEEP), now),
    ]


def _is_writable() -> bool:
    """False for a PostgreSQL that takes no writes: a standby, or a primary during a failover."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone()[0] == "off")


def system_load(now: datetime | None = None) -> SystemLoad:
    now = now or db_clock.database_now()
    going = Run.objects.running()
    waiting = Answer.objects.filter(applied_in=None, run__in=going)
    seen = waiting.aggregate(count=Count("pk"), first=Min("at"))
    lag = (now - seen["first"]).total_seconds() if seen["first"] else 0.0
    return SystemLoad(
        running=going.count(),
        stuck=waiting.filter(at__lt=now - STUCK).values("run").distinct().count(),
        answers=Answer.objects.count(),
        steps=Run.objects.aggregate(steps=Sum("steps"))["steps"] or 0,
        waiting=seen["count"],
        lag=max(0.0, lag),
        queued=_queue_lengths(),
    )


def background_delay(last: datetime | None, now: datetime) -> timedelta | None:
    """For how long nothing has worked in the background, where that is too long."""
    most = max(UNSWEPT, 3 * timedelta(seconds=settings.SWEEP_SECONDS))
    return None if last is not None and now - last < most else now - (last or now)


def redis_answers() -> bool:
    try:
        cache.get("anything")
    except Exception:  # whichever way it fails
        return False
    return True


def _web_part(last: datetime | None, now: datetime) -> SystemPart:
    if last is None:
        return SystemPart(
            "Web", True, "It has not said anything yet; this page shows that it is there."
        )
    if now - last > SILENT:
        words = (
            f"It last took answers {format_duration(now - last)} ago; that time will be given back."
        )
        return SystemPart("Web", False, words)
    return SystemPart("Web", True, "It takes answers.")


def _redis_part() -> SystemPart:
    if redis_answers():
        return SystemPart("Redis", True, "It answers.")
    return SystemPart("Redis", False, "It does not answer: start it, or see REDIS_URL.")


def _background_part(last: datetime | None, now: datetime) -> SystemPart:
    name = "Background"
    span = background_delay(last, now)
    if span is None:
        words = f"It last swept {format_duration(now - last)} ago." if last else ""
        return SystemPart(name, True, words)
    ago = f"Nothing has worked for {format_duration(span)}" if last else "Nothing has worked yet"
    return SystemPart(
        name, False, f"{ago}: see whether a Celery worker and Celery's beat are running."
    )


def celery_workers() -> list[str]:
    """The names of those that answer within a second; none where Redis is away."""
    if not redis_answers():
        return []
    try:
        return sorted(current_app.control.inspect(timeout=1.0).ping() or {})
    except (RedisError, OperationalError):
        return []


def _queue_lengths() -> dict[str, int]:
    """Celery keeps a list in Redis for each queue."""
    if not redis_answers():
        return {}
    seconds = settings.REDIS_SECONDS
    patience = {"socket_timeout": seconds, "socket_connect_timeout": seconds}
    try:
        with Redis.from_url(settings.REDIS_URL, **patience) as broker:
            return {name: int(broker.llen(name)) for name in settings.CELERY_TASK_QUEUES}
    except RedisError:
        return {}

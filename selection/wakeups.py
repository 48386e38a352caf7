"""Request a step of a run soon: at most one message a run is on its way at any time."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings
from django.core.cache import cache
from django.db import transaction

from selection.outbox.celery_messages import KEY_SECONDS, cache_key, send_message

logger = logging.getLogger(__name__)

TASK = "selection.tasks.advance"
# By run: the time until which a message is certainly on its way, so that it will find rows
# committed now. Half the delay, for clocks that differ. The key tells other processes. It saves
# asking Redis.
_covered: dict[int, float] = {}
# Redis is not asked again for so long after a timeout, because each request would wait for it.
REST_SECONDS = 5.0
_rests_until = 0.0
_asleep: ContextVar[bool] = ContextVar("asleep", default=False)


def request_step(run_id: int) -> None:
    """Advance this run a moment after the present transaction commits."""
    if _asleep.get():
        return
    # A lambda, because Django names a failing robust callback by its __qualname__.
    transaction.on_commit(lambda: _send_once(run_id), robust=True)


def request_step_later(run_id: int, seconds: float) -> None:
    """Advance this run once after so many seconds, unless the next sweep comes first."""
    if _asleep.get() or seconds >= settings.SWEEP_SECONDS:
        return
    transaction.on_commit(lambda: _send_later(run_id, seconds), robust=True)


@contextmanager
def silenced() -> Iterator[None]:
    """Send no message in this block: for callers that advance a run themselves, without Redis."""
    token = _asleep.set(True)
    try:
        yield
    finally:
        _asleep.reset(token)


def is_silenced() -> bool:
    """Tell if no messages are sent, as in simulations with an imagined crowd."""
    return _asleep.get()


def _send_once(run_id: int) -> None:
    global _rests_until
    half, now = settings.ADVANCE_DELAY_SECONDS / 2, time.time()
    covered = 0 < _covered.get(run_id, 0.0) - now <= half  # further: a clock was put back
    if covered or time.monotonic() < _rests_until:
        return
    try:
        until = cache.get(cache_key(TASK, run_id))
        if until is None and cache.add(cache_key(TASK, run_id), until := now + half, KEY_SECONDS):
            send_step(run_id)
        _covered[run_id] = until
    except Exception:
        # Redis may be away: the answer is safe in the database and the next sweep finds it.
        _rests_until = time.monotonic() + REST_SECONDS
        logger.warning("Could not ask for run %s to advance; the sweep will.", run_id)


def _send_later(run_id: int, seconds: float) -> None:
    try:
        # A moment more, for clocks that differ: a step that comes too early would do nothing.
        if cache.add(f"later:{run_id}", True, seconds):
            send_step(run_id, seconds + settings.ADVANCE_DELAY_SECONDS)
    except Exception:
        logger.warning("Could not ask for run %s to advance later; the sweep will.", run_id)


def send_step(run_id: int, delay: float | None = None) -> None:
    """Send the message, even if one is on its way."""
    wait = settings.ADVANCE_DELAY_SECONDS if delay is None else delay
    try:
        send_message(TASK, [run_id], countdown=wait)
    except Exception:
        cache.delete(cache_key(TASK, run_id))
        raise

"""Rate limits per minute, counted in the cache; unlimited while it is unreachable.

Windows of a minute are fixed, so that a count is one number: at the turn of two windows up to twice
the limit may pass. A process reports to the cache in steps of a thousandth of the limit; this is
the largest error per process, and requests in between cost nothing. Libraries considered:
django-ratelimit is no longer maintained, and django-ninja's throttle keeps every moment of the past
minute in a list.
"""

import logging
import time
from dataclasses import dataclass, field
from hashlib import blake2s
from ipaddress import ip_network

from django.core.cache import cache
from django.http import HttpRequest

logger = logging.getLogger(__name__)

WINDOW_SECONDS = 60
# Pause after a failure of the cache, because each attempt may run into its timeout.
REST_SECONDS = 10.0
STEPS = 1000


@dataclass
class _WindowCounts:
    """Counts of this process in the current window, by key, and the keys over their limit."""

    window: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)
    rests_until: float = 0.0

    def turn(self, window: int) -> None:
        if window != self.window:
            self.window, self.counts, self.over = window, {}, set()


_here = _WindowCounts()


def is_over_limit(kind: str, client: str, most: int) -> bool:
    """Count one request; return True if it exceeds ``most`` in this minute. 0: no limit."""
    if not most:
        return False
    _here.turn(int(time.time()) // WINDOW_SECONDS)
    key, step = f"{kind}:{client}", max(1, most // STEPS)
    _here.counts[key] = count = _here.counts.get(key, 0) + 1
    if count % step == 0 and key not in _here.over and _shared_count(key, step) > most:
        _here.over.add(key)
    return key in _here.over


def client_network(request: HttpRequest) -> str:
    """Choose the address to count requests by.

    An IPv6 address counts by its /64 network, because a client with one address has all of them.
    """
    address = str(request.META.get("REMOTE_ADDR", "")).partition("%")[0]
    return address if ":" not in address else str(ip_network(f"{address}/64", strict=False))


def seconds_left() -> int:
    return WINDOW_SECONDS - int(time.time()) % WINDOW_SECONDS


def _shared_count(key: str, step: int) -> int:
    """Add ``step`` to the count of all processes and return it; 0 if the cache is unreachable."""
    if time.monotonic() < _here.rests_until:
        return 0
    name = blake2s(key.encode(), digest_size=12).hexdigest()
    shared = f"rate:{name}:{_here.window}"
    try:
        cache.add(shared, 0, 2 * WINDOW_SECONDS)
        return int(cache.incr(shared, step))
    except Exception:
        _here.rests_until = time.monotonic() + REST_SECONDS
        logger.warning("The cache does not answer: nobody's requests are counted for a while.")
        return 0

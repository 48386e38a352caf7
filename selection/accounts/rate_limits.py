"""How often a minute: counted in the cache, and not at all while that is away.

A fixed window of a minute each, so that a count is one number: at the turn of two windows there may
be twice as many for a moment. A process tells the cache of a thousandth of the limit at once, which
is so far off at most for each process, and costs nothing between. Libraries for this were looked
at: django-ratelimit is not kept any more, and django-ninja's own keeps every moment of the past
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
# A cache that is away is not asked again for so long: each question may take its time to fail.
REST_SECONDS = 10.0
STEPS = 1000


@dataclass
class _WindowCounts:
    """What this process counted in this window: by key, so many, and which are over."""

    window: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)
    rests_until: float = 0.0

    def turn(self, window: int) -> None:
        if window != self.window:
            self.window, self.counts, self.over = window, {}, set()


_here = _WindowCounts()


def is_over_limit(kind: str, who: str, most: int) -> bool:
    """Count once more; whether that is more than ``most`` in this minute. 0: no limit."""
    if not most:
        return False
    _here.turn(int(time.time()) // WINDOW_SECONDS)
    key, step = f"{kind}:{who}", max(1, most // STEPS)
    _here.counts[key] = count = _here.counts.get(key, 0) + 1
    if count % step == 0 and key not in _here.over and _shared_count(key, step) > most:
        _here.over.add(key)
    return key in _here.over


def client_network(request: HttpRequest) -> str:
    """Where a request comes from, as far as a limit goes: of an IPv6 address the network, because
    whoever has one address has all of its 64 bits."""
    address = str(request.META.get("REMOTE_ADDR", "")).partition("%")[0]
    return address if ":" not in address else str(ip_network(f"{address}/64", strict=False))


def seconds_left() -> int:
    """Until the next minute begins, and counting anew."""
    return WINDOW_SECONDS - int(time.time()) % WINDOW_SECONDS


def _shared_count(key: str, step: int) -> int:
    """How many all processes have counted with these; 0 while the cache is away."""
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

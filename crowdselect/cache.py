"""The cache in Redis. One that does not answer is waited for once, not by every question to it.

A Redis that is frozen, or behind a cut cable, takes a connection and says nothing. A page asks the
cache several times and is the same without it, so whoever has waited in vain says so to all threads
of the process: for some seconds nobody asks, then one does.
"""

from time import monotonic
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis import Redis, TimeoutError

REST_SECONDS = 3.0
# By addresses: until when they are not asked.
_rests: dict[tuple[str, ...], float] = {}


class CircuitBreakerRedis(Redis):
    """Raises TimeoutError at once while it rests."""

    servers: tuple[str, ...] = ()

    def execute_command(self, *args: Any, **options: Any) -> Any:
        until, now = _rests.get(self.servers, 0.0), monotonic()
        if now < until:
            raise TimeoutError("Redis did not answer a moment ago.")
        if until:  # one asks for all whether it is back
            _rests[self.servers] = now + REST_SECONDS
        try:
            found = super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
        except TimeoutError:
            _rests[self.servers] = monotonic() + REST_SECONDS
            raise
        _rests.pop(self.servers, None)
        return found


class Client(RedisCacheClient):
    def get_client(self, key: Any = None, *, write: bool = False) -> CircuitBreakerRedis:
        client = CircuitBreakerRedis(connection_pool=self._get_connection_pool(write))  # type: ignore[attr-defined]
        client.servers = tuple(self._servers)  # type: ignore[attr-defined]
        return client


class Cache(RedisCache):
    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = Client

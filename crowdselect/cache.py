"""The cache in Redis, with a circuit breaker: after a timeout it is not asked for some seconds.

A Redis that is frozen, or behind a cut cable, accepts a connection and does not respond. A page
asks the cache several times and works without it, so a thread whose request timed out tells all
threads of the process: for some seconds none asks, then a single one does.
"""

from time import monotonic
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis import Redis, TimeoutError

REST_SECONDS = 3.0
# By addresses: the time until which they are not asked.
_rests: dict[tuple[str, ...], float] = {}


class CircuitBreakerRedis(Redis):
    """Client that raises TimeoutError at once during the rest after a timeout."""

    servers: tuple[str, ...] = ()

    def execute_command(self, *args: Any, **options: Any) -> Any:
        until, now = _rests.get(self.servers, 0.0), monotonic()
        if now < until:
            raise TimeoutError("Redis did not answer a moment ago.")
        if until:  # a single thread tries whether it is back
            _rests[self.servers] = now + REST_SECONDS
        try:
            reply = super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
        except TimeoutError:
            _rests[self.servers] = monotonic() + REST_SECONDS
            raise
        _rests.pop(self.servers, None)
        return reply


class Client(RedisCacheClient):
    def get_client(self, key: Any = None, *, write: bool = False) -> CircuitBreakerRedis:
        client = CircuitBreakerRedis(connection_pool=self._get_connection_pool(write))  # type: ignore[attr-defined]
        client.servers = tuple(self._servers)  # type: ignore[attr-defined]
        return client


class Cache(RedisCache):
    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = Client

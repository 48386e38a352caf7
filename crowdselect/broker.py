"""Redis as what carries messages, where it may break off at any moment."""

from typing import Any

from celery import Celery
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES, redis
from redis import ConnectionError


class Channel(redis.Channel):
    """Kombu's (5.7), of a connection that is closed, looks for its address in vain: a worker that
    gives back a message that came by it, or says that it is done, ended with an AttributeError."""

    def _connparams(self, asynchronous: bool = False) -> Any:
        if self.connection.client is None:
            raise ConnectionError("The connection by which this came was closed.")
        return super()._connparams(asynchronous)  # type: ignore[no-untyped-call]


class Transport(redis.Transport):
    Channel = Channel


def install_transport() -> None:
    """For all addresses of Redis, whatever makes a connection."""
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = "crowdselect.broker:Transport"


def shorten_retries(app: Celery) -> None:
    """Where a page waits for it, once: the sweep makes up for a message that Redis does not take.

    A worker is more patient, whom a moment's silence would cost its connection.
    """
    most = settings.REDIS_SECONDS
    soon = {"socket_timeout": most, "socket_connect_timeout": most, "max_retries": 0}
    app.conf.broker_transport_options = app.conf.broker_transport_options | soon

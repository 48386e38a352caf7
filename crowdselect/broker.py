"""Celery's Redis transport, robust against broken connections."""

from typing import Any

from celery import Celery
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES, redis
from redis import ConnectionError


class Channel(redis.Channel):
    """Channel that raises a connection error after its connection was closed.

    Kombu (5.7) looks up the address of the closed connection instead: a worker that returned or
    acknowledged a message then ended with an AttributeError.
    """

    def _connparams(self, asynchronous: bool = False) -> Any:
        if self.connection.client is None:
            raise ConnectionError("The connection by which this came was closed.")
        return super()._connparams(asynchronous)  # type: ignore[no-untyped-call]


class Transport(redis.Transport):
    Channel = Channel


def install_transport() -> None:
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = "crowdselect.broker:Transport"


def shorten_retries(app: Celery) -> None:
    """Try Redis once in processes that serve pages: the sweep makes up for a lost message.

    Workers are more patient, because a short outage would cost them their connection.
    """
    most = settings.REDIS_SECONDS
    soon = {"socket_timeout": most, "socket_connect_timeout": most, "max_retries": 0}
    app.conf.broker_transport_options = app.conf.broker_transport_options | soon

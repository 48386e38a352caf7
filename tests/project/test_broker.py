"""What a Celery worker bears of Redis."""

import logging
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from celery.worker.consumer import Consumer
from kombu import Connection
from kombu.exceptions import OperationalError

from crowdselect.celery import app
from tests.faults.links import free_port
from tests.faults.services import redis_server, running

# What Celery 6 will do.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.fixture
def consumer(tmp_path: Path) -> Iterator[Consumer]:
    """That of a worker, as far as it matters when its connection breaks."""
    port, made = free_port(), object.__new__(Consumer)
    made.app, made.qos_global = app, False
    made.pool, made.prefetch_multiplier = SimpleNamespace(num_processes=1), 4
    with running(redis_server(tmp_path, port), signal.SIGKILL) as made.redis:
        made.connection = Connection(f"redis://127.0.0.1:{port}/0")
        yield made


def test_a_redis_that_dies_while_a_message_is_worked_on_does_not_end_the_worker(consumer):
    connection = consumer.connection
    work = connection.SimpleQueue("work")
    connection.SimpleQueue("orders", channel=connection.channel()).consumer.consume()
    work.put("a message")
    message = work.get(timeout=5)
    with suppress(TimeoutError):
        connection.drain_events(timeout=0.1)  # both wait for their next one
    consumer.redis.end(signal.SIGKILL)
    consumer.on_connection_error_after_connected(OperationalError("It broke off."))
    assert consumer.connection is None
    message.ack_log_error(logging.getLogger("celery"), connection.connection_errors)
    assert not message.acknowledged

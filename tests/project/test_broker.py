"""What a Celery worker bears of Redis."""

import signal
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from kombu import Connection
from kombu.exceptions import OperationalError

from crowdselect.celery import app
from crowdselect.consumer import Consumer
from tests.faults.links import free_port
from tests.faults.services import redis_server, running

# What Celery 6 will do.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.fixture
def consumer() -> Consumer:
    """That of a worker, as far as it matters when its connection breaks."""
    assert app.conf.worker_consumer == "crowdselect.consumer:Consumer"
    made = object.__new__(Consumer)
    made.app, made.qos_global = app, False
    made.pool, made.prefetch_multiplier = SimpleNamespace(num_processes=1), 4
    return made


def test_a_redis_that_dies_while_a_message_is_worked_on_does_not_end_the_worker(
    consumer, tmp_path: Path
):
    port = free_port()
    with running(redis_server(tmp_path, port), signal.SIGKILL) as redis:
        consumer.connection = connection = Connection(f"redis://127.0.0.1:{port}/0")
        work = connection.SimpleQueue("work")
        connection.SimpleQueue("orders", channel=connection.channel()).consumer.consume()
        work.put("a message")
        work.get(timeout=5)
        with suppress(TimeoutError):
            connection.drain_events(timeout=0.1)  # both wait for their next one
        redis.end(signal.SIGKILL)
        consumer.on_connection_error_after_connected(OperationalError("It broke off."))
    assert consumer.connection is None

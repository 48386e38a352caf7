"""Failures of Redis that a Celery worker survives."""

import ast
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from celery.worker.consumer import Consumer
from django.conf import settings
from kombu import Connection
from kombu.exceptions import OperationalError

from crowdselect.celery import app
from tests.faults.links import free_port
from tests.faults.services import redis_server, running

# The default of Celery 6.
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


SENDS = """
import os, signal, sys
from crowdselect import wsgi
from redis import TimeoutError
from redis.connection import AbstractConnection
from selection import wakeups
waited, read = [], AbstractConnection.read_response
def counted(self, *given, **more):
    try:
        return read(self, *given, **more)
    except TimeoutError:
        waited.append(self.socket_timeout)
        raise
AbstractConnection.read_response = counted
wakeups.cache.delete = lambda key: None
def send():
    waited.clear()
    try:
        wakeups.send_step(1)
    except Exception as error:
        print(type(error).__name__, *waited)
    else:
        print("sent", *waited)
send()
os.kill(int(sys.argv[1]), signal.SIGSTOP)
send()
send()
os.kill(int(sys.argv[1]), signal.SIGKILL)
send()
"""


@pytest.mark.slow
def test_a_page_waits_a_second_for_a_frozen_redis_and_not_at_all_for_one_that_is_gone(tmp_path):
    port = free_port()
    own = {"REDIS_URL": f"redis://127.0.0.1:{port}/0", "VAR_DIR": str(tmp_path)}
    with running(redis_server(tmp_path, port), signal.SIGKILL) as redis:
        said = subprocess.run(
            [sys.executable, "-c", SENDS, str(redis.process.pid)],
            cwd=settings.BASE_DIR,
            env=os.environ | own | {"DJANGO_SETTINGS_MODULE": "crowdselect.settings"},
            check=True,
            capture_output=True,
            text=True,
        )
    frozen, gone = "OperationalError 1.0", "OperationalError"
    assert said.stdout.splitlines()[-4:] == ["sent", frozen, frozen, gone]


def test_senders_of_tasks_ask_for_no_result():
    """For one that is asked for, a Redis that is gone is waited for twenty seconds."""
    for path in (Path(settings.BASE_DIR) / "selection").rglob("*.py"):
        for found in ast.walk(ast.parse(path.read_text())):
            if isinstance(found, ast.Call) and ast.unparse(found.func).endswith(".send_task"):
                assert "ignore_result" in {given.arg for given in found.keywords}, path


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

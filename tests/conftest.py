"""Real parts for every test: Redis, and Celery workers where a test asks for them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection

from crowdselect.redis_server import command
from selection.models import ApiToken
from tests.settings import REDIS_SOCKET


def wait_until(true: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Poll until it is true; a test that waits in vain says for what."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.05)


@pytest.fixture(scope="session", autouse=True)
def redis_server() -> Iterator[None]:
    server = subprocess.Popen(command(REDIS_SOCKET), stdout=subprocess.DEVNULL)
    wait_until(REDIS_SOCKET.exists, "the Redis socket")
    yield
    server.terminate()
    server.wait()


@pytest.fixture(autouse=True)
def empty_redis(redis_server: None) -> None:
    cache.clear()


@pytest.fixture
def token(db: None) -> str:
    return ApiToken.issue("test")


def database_url() -> str:
    """The address of the test database, for other processes."""
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    host = values["OPTIONS"].get("host") or values["HOST"]
    return f"postgresql://{values['USER']}:@/{values['NAME']}?host={host}"


@contextmanager
def celery_worker(*extra: str) -> Iterator[subprocess.Popen[bytes]]:
    """A real worker process on the test database, ready to take tasks."""
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "REDIS_URL": settings.REDIS_URL,
        "DJANGO_SETTINGS_MODULE": "crowdselect.settings",
        "ADVANCE_DELAY_SECONDS": "0.1",
    }
    arguments = [sys.executable, "-m", "celery", "-A", "crowdselect", "worker"]
    options = ["--concurrency", "1", "--loglevel", "info", "--without-gossip", "--without-mingle"]
    worker = subprocess.Popen(
        [*arguments, *options, *extra],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert worker.stdout is not None
    os.set_blocking(worker.stdout.fileno(), False)
    said = b""

    def ready() -> bool:
        nonlocal said
        said += worker.stdout.read() or b""
        assert worker.poll() is None, said.decode()
        return b" ready." in said

    try:
        wait_until(ready, "the Celery worker")
        os.set_blocking(worker.stdout.fileno(), False)
        yield worker
    finally:
        worker.terminate()
        worker.wait()

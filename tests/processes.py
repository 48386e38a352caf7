"""Real processes for tests and benchmarks, and waiting for them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection


def wait_until(true: Callable[[], bool], what: str, seconds: float = 300) -> None:
    """Poll until it is true; a test that waits in vain says for what."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.05)


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

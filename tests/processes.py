"""Real processes for tests and benchmarks, and waiting for them."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection


def import_path(checkout: Path) -> str:
    """PYTHONPATH of processes that import this checkout, whichever one is installed."""
    return os.pathsep.join(map(str, (checkout, *sorted(checkout.glob("packages/*")))))


def wait_until(true: Callable[[], bool], what: str, seconds: float = 300) -> None:
    """Poll until it is true; a test that waits in vain names the object of its wait."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Tell if a process of this host takes connections at this port."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


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
    with (
        tempfile.NamedTemporaryFile() as said
    ):  # a full pipe without a reader would stop the process
        worker = subprocess.Popen(
            [*arguments, *options, *extra],
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

        def ready() -> bool:
            words = Path(said.name).read_bytes()
            assert worker.poll() is None, words.decode()
            return b" ready." in words

        try:
            wait_until(ready, "the Celery worker")
            yield worker
        finally:
            worker.terminate()
            worker.wait()

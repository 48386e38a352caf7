"""Parts of `make run`: the death of one is told, and ends none of the others."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from tests.processes import celery_worker, database_url, free_port, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]

PARTS = {
    "web": "web_server",
    "worker": "-Q celery",
    "forecasts": "-Q forecasts",
}


def children(pid: int) -> dict[int, str]:
    """The command lines of the children of this process."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            status = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, UnicodeDecodeError):
            continue
        if status[1] == str(pid):
            found[int(folder.name)] = words
    return found


@contextmanager
def supervised(
    folder: Path, port: int, python: str = sys.executable
) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {
        "PYTHON": shlex.quote(python),
        "VAR_DIR": str(folder),
        "RUN_AS": str(os.getuid()),
        "EMBEDDED_REDIS": "false",
        "TELL": "warn",
        "ADDRESS": f"127.0.0.1:{port}",
        "HERE": f"http://127.0.0.1:{port}",
        "SAMPLE_RUN": "0",
        "SAMPLE_GOLD": "none",
        "CROWD_TOKEN": "none",
        "DATABASE_URL": database_url(),
        "REDIS_URL": settings.REDIS_URL,
        "ALLOWED_HOSTS": "127.0.0.1",
        "DJANGO_SETTINGS_MODULE": "crowdselect.settings",
    }
    command = [sys.executable, *settings.SUPERVISOR]
    with (folder / "said").open("wb") as said:
        running = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=environment, stdout=said, stderr=subprocess.STDOUT
        )
        try:
            yield running
        finally:
            running.send_signal(signal.SIGINT)
            running.wait()


def test_a_worker_that_is_told_to_end_does_not_wait_for_a_frozen_child(monkeypatch):
    monkeypatch.setenv("WORKER_ENDS_SECONDS", "1")
    with celery_worker() as worker:
        (child,) = children(worker.pid)
        os.kill(child, signal.SIGSTOP)
        try:
            worker.terminate()
            wait_until(lambda: worker.poll() is not None, "the worker's end", 60)
        finally:
            os.kill(child, signal.SIGKILL)


def of(part: str, running: subprocess.Popen[bytes]) -> set[int]:
    return {pid for pid, words in children(running.pid).items() if PARTS[part] in words}


def web_answers(port: int) -> Callable[[], bool]:
    def look() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/admin/login/").status_code == 200
        except httpx.HTTPError:
            return False

    return look


def test_killed_process_restarts_with_a_message_and_all_end_together(tmp_path):
    port = free_port()
    with supervised(tmp_path, port) as running:
        wait_until(web_answers(port), "the web server")
        for part in ("worker", "web"):
            wait_until(lambda part=part: len(of(part, running)) == 1, part)
            (first,) = of(part, running)
            orphans = set(children(first))
            os.kill(first, signal.SIGKILL)
            wait_until(lambda part=part, first=first: of(part, running) - {first}, f"a new {part}")
            wait_until(
                lambda orphans=orphans: not any(Path(f"/proc/{pid}").exists() for pid in orphans),
                "what the dead one left behind",
            )
        wait_until(web_answers(port), "the new web server")
        left = {pid for part in PARTS for pid in of(part, running)}
    said = (tmp_path / "said").read_text()
    assert "exited: worker (terminated by SIGKILL; not expected)" in said
    assert "exited: web (terminated by SIGKILL; not expected)" in said
    assert " CRIT " not in said
    assert left
    assert not any(Path(f"/proc/{pid}").exists() for pid in left)


def test_failed_start_is_reported(tmp_path):
    with supervised(tmp_path, free_port(), "/no such/python") as running:
        said = tmp_path / "said"
        wait_until(
            lambda: "gave up: web entered FATAL state" in said.read_text(), "the web's end", 60
        )
        assert running.poll() is None
    assert "spawnerr: can't find command '/no such/python'" in said.read_text()

"""A flood of requests while workers answer in time: ``python -m tests.faults.overload`` calls it.

Forty connections with six pipelined requests each ask a real web server for one address, while
workers answer in time. It prints the fate of their answers, how long /healthz took, and how many
seconds of outage the run's history records, and exits with 1 if an answer sent in time was
rejected. All addresses are in the environment already, because Django's settings are read here.
"""

import argparse
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

import django
import httpx
from django.utils import timezone

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connections  # noqa: E402

from selection import engine  # noqa: E402
from selection.answers import overdue, presence  # noqa: E402
from selection.models import ApiToken, Assignment, Event, Heartbeat, Run  # noqa: E402
from tests.processes import free_port, wait_until  # noqa: E402
from tests.worlds import make_run, open_of  # noqa: E402

CONNECTIONS, PIPELINED = 40, 6
WORKERS = 12
THINKING_SECONDS = 4  # between being asked and answering
TIME_TO_ANSWER = timedelta(seconds=10)
PATIENCE_SECONDS = 300  # for the last reply, after the flood
SWEEP_SECONDS = 2


@dataclass
class Figures:
    """Measurements of a flood.

    rejected         the server's messages for answers that it did not take
    slowest_healthz  in seconds; a request without a reply counts with the time it was waited for
    """

    sent: int = 0
    taken: int = 0
    rejected: list[str] = field(default_factory=list)
    longest_reply: float = 0.0
    healthz: int = 0
    slowest_healthz: float = 0.0
    flood_replies: int = 0
    outage_seconds: int = 0


class Flood:
    """Threads that keep ``CONNECTIONS`` x ``PIPELINED`` requests for one path in progress."""

    def __init__(self, port: int, path: str, figures: Figures) -> None:
        self.port, self.path, self.figures = port, path, figures
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self._keep_asking) for _ in range(CONNECTIONS)]

    def __enter__(self) -> "Flood":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def _keep_asking(self) -> None:
        request = f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        while not self.stop.is_set():
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 5) as wire:
                wire.settimeout(1)
                wire.sendall(request * PIPELINED)
                self._read(wire)

    def _read(self, wire: socket.socket) -> None:
        """Read until all replies came, the server closes the connection, or the flood ends."""
        replies, rest = 0, b""
        while replies < PIPELINED and not self.stop.is_set():
            with suppress(TimeoutError):
                data = wire.recv(1 << 16)
                if not data:
                    break
                rest += data
                new = rest.count(b"HTTP/1.1 ")
                replies += new
                self.figures.flood_replies += new
                rest = rest[-8:]


class Crowd:
    """Workers that claim a question each, answer it after ``THINKING_SECONDS``, and begin anew."""

    def __init__(self, port: int, token: str, run: int, figures: Figures) -> None:
        self.url = f"http://127.0.0.1:{port}/"
        self.headers, self.run, self.figures = {"Authorization": f"Bearer {token}"}, run, figures
        self.stop, self.lock = threading.Event(), threading.Lock()
        self.threads = [
            threading.Thread(target=self._answer, args=(f"w{number}",))
            for number in range(1, WORKERS)
        ]
        self.threads.append(threading.Thread(target=self._watch))

    def __enter__(self) -> "Crowd":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def _answer(self, worker: str) -> None:
        with self._client() as client, disconnecting():
            while not self.stop.is_set():
                for assignment in self._claimed(client, worker):
                    self.stop.wait(THINKING_SECONDS)
                    self._send(client, assignment)
                self.stop.wait(0.2)

    def _claimed(self, client: httpx.Client, worker: str) -> list[int]:
        """Return this worker's assignments after starting their deadlines, as the page would."""
        claim = {"workers": [worker], "questions_per_worker": 1}
        reply = client.post(f"api/runs/{self.run}/claims", json=claim)
        ids = [row["id"] for worker_claims in reply.json() for row in worker_claims["assignments"]]
        now = timezone.now()
        Assignment.objects.filter(pk__in=ids).update(shown=now, due=now + TIME_TO_ANSWER)
        return ids

    def _send(self, client: httpx.Client, assignment: int) -> None:
        start = time.monotonic()
        reply = client.post(f"api/assignments/{assignment}/answer", json={"response": "yes"})
        took = time.monotonic() - start
        with self.lock:
            self.figures.sent += 1
            self.figures.longest_reply = max(self.figures.longest_reply, round(took, 1))
            if reply.is_success:
                self.figures.taken += 1
            else:
                self.figures.rejected.append(f"{reply.status_code} {reply.text[:200]}")

    def _watch(self) -> None:
        with self._client() as client:
            while not self.stop.is_set():
                start = time.monotonic()
                with suppress(httpx.TransportError):
                    client.get("healthz")
                took = round(time.monotonic() - start, 1)
                self.figures.healthz += 1
                self.figures.slowest_healthz = max(self.figures.slowest_healthz, took)
                self.stop.wait(1)

    def _client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers=self.headers, timeout=PATIENCE_SECONDS)


@contextmanager
def disconnecting() -> Iterator[None]:
    """Close this thread's database connections at the end."""
    try:
        yield
    finally:
        connections.close_all()


@contextmanager
def web_server(port: int) -> Iterator[None]:
    """Run the project's web server like `make run`."""
    command = [sys.executable, "-m", "crowdselect.start.web_server", f"127.0.0.1:{port}"]
    server = subprocess.Popen([*command, "--processes", "2"], start_new_session=True)
    try:
        wait_until(lambda: is_up(port), "the web server", 120)
        yield
    finally:
        server.terminate()
        server.wait(60)


def is_up(port: int) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=5).status_code == 200
    return False


class Sweeper:
    """Thread that replaces Celery: it closes overdue assignments and takes steps."""

    def __init__(self, run: int) -> None:
        self.run, self.stop = run, threading.Event()
        self.thread = threading.Thread(target=self._sweep)

    def __enter__(self) -> "Sweeper":
        self.thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop.set()
        self.thread.join()

    def _sweep(self) -> None:
        with disconnecting():
            while not self.stop.wait(SWEEP_SECONDS):
                overdue.expire_overdue()
                engine.advance(self.run)


def outage_seconds(run: int) -> int:
    """Return the seconds of outage in the run's history."""
    texts = Event.objects.filter(run=run, kind="outage").values_list("what", flat=True)
    spans = (re.search(r"for (\d+) s", text) for text in texts)
    return sum(int(span[1]) for span in spans if span)


def beaten_since(moment: datetime) -> bool:
    last = Heartbeat.objects.last_seen(Heartbeat.WEB)
    return last is not None and last > moment


def play(seconds: float, path: str) -> Figures:
    """Flood the path for so long while workers answer; return the measurements."""
    call_command("migrate", verbosity=0)
    run: Run = make_run(n=WORKERS, questions=2000, epsilon=0.001, slots=60, minutes=30)
    engine.advance(run.pk)
    own = [one for one in open_of(run) if one.candidate.worker.key == "w0"]
    silent = own[0]  # a slow worker: an outage extends their deadline
    presence.record_shown(run, [silent.pk])
    figures, port, token = Figures(), free_port(), ApiToken.issue("crowd")
    with web_server(port), Sweeper(run.pk), Crowd(port, token, run.pk, figures):
        time.sleep(THINKING_SECONDS)
        with Flood(port, path, figures):
            time.sleep(seconds)
        ended = timezone.now()
        wait_until(lambda: beaten_since(ended), "the web's heartbeat", PATIENCE_SECONDS)
    figures.outage_seconds = outage_seconds(run.pk)
    return figures


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.flood", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--path", default="/api/openapi.json")
    options = parser.parse_args(arguments)
    figures = play(options.seconds, options.path)
    print(json.dumps(asdict(figures), ensure_ascii=False, indent=1))
    return int(bool(figures.rejected))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The real web server, Celery worker and Redis, and clients that answer by the API."""

import http.client
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from crowdselect.start.redis_server import redis_command
from selection import engine
from selection.models import ApiToken, Assignment, Run
from tests.processes import answers, free_port, wait_until
from tests.worlds import make_run

from . import spent

CLIENTS = 4
SECONDS = 8.0
BATCH = 1000


@dataclass
class Stack:
    """The running processes: ``pids`` by name."""

    port: int
    token: str
    pids: dict[str, int] = field(default_factory=dict)

    def processors(self) -> float:
        """Return the processor seconds of its processes and the database so far."""
        return spent.processors([*self.pids.values(), *spent.database()])


@contextmanager
def stack(children: int = 1, processes: int = 2) -> Iterator[Stack]:
    """Run Redis, web processes and a Celery worker with so many children."""
    token = ApiToken.issue("bench")
    connection.close()
    port = free_port()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "benchmarks.settings",
        "PYTHONWARNINGS": "ignore",
    }
    python = [sys.executable, "-m"]
    web = ["crowdselect.start.web_server", f"127.0.0.1:{port}", "--processes", str(processes)]
    celery = ["celery", "-A", "crowdselect", "worker", "--concurrency", str(children)]
    commands = {
        "redis": redis_command(Path(settings.REDIS_URL.removeprefix("unix://"))),
        "web": [*python, *web],
        "celery": [*python, *celery, "--loglevel", "error", "--without-gossip", "--without-mingle"],
    }
    running = {
        name: subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        for name, command in commands.items()
    }
    try:
        wait_until(lambda: answers(port), "the web server")
        yield Stack(port, token, {name: started.pid for name, started in running.items()})
    finally:
        for process in reversed(running.values()):
            process.terminate()
            process.wait()


# -- runs with much to answer


def crowded_run(n: int = 500, hands: int = 20) -> Run:
    run = make_run(
        n=n,
        k=n // 5,
        questions=400,
        algorithm="adaptive-top-k",
        slots=n * hands,
        slots_per_worker=hands,
        epsilon=0.05,
    )
    engine.advance(run.pk)
    return run


def open_ids(*runs: Run) -> list[int]:
    """Return the outstanding assignments of these runs, in the order in which they were dealt."""
    rows = Assignment.objects.filter(candidate__run__in=runs).open()
    return list(rows.order_by("id").values_list("id", flat=True))


def put_aside(run: Run) -> None:
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.PAUSED)


# -- clients

Post = Callable[[Stack, Sequence[Any], float], int]


def post_all(
    server: Stack, messages: Sequence[Any], post: "Post", seconds: float = SECONDS
) -> tuple[int, float]:
    """Let each client post its share; return the number of answers and the seconds taken."""
    shares = [messages[i::CLIENTS] for i in range(CLIENTS)]
    connection.close()
    start = time.perf_counter()
    with multiprocessing.get_context("fork").Pool(CLIENTS) as pool:
        counts = pool.starmap(post, [(server, share, seconds) for share in shares])
    return sum(counts), time.perf_counter() - start


def post_each(server: Stack, paths: Sequence[str], seconds: float = SECONDS) -> int:
    """Post one answer a request; return their number."""
    client, headers = _client(server)
    body, deadline = json.dumps({"response": "yes"}), time.perf_counter() + seconds
    for sent, path in enumerate(paths):
        if time.perf_counter() > deadline:
            return sent
        client.request("POST", path, body, headers)
        reply = client.getresponse()
        reply.read()
        assert reply.status == 201, reply.status
    return len(paths)


def post_batches(server: Stack, ids: Sequence[int], seconds: float = SECONDS) -> int:
    """Post ``BATCH`` answers a request; return their number."""
    client, headers = _client(server)
    deadline = time.perf_counter() + seconds
    for start in range(0, len(ids), BATCH):
        if time.perf_counter() > deadline:
            return start
        part = ids[start : start + BATCH]
        body = json.dumps({"answers": [{"assignment": pk, "response": "yes"} for pk in part]})
        client.request("POST", "/api/answers", body, headers)
        reply = json.loads(client.getresponse().read())
        assert reply["new_answers"] == len(part), reply
    return len(ids)


def _client(server: Stack) -> tuple[http.client.HTTPConnection, dict[str, str]]:
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    return http.client.HTTPConnection("127.0.0.1", server.port), headers


def addresses(ids: Sequence[int]) -> list[str]:
    return [f"/api/assignments/{pk}/answer" for pk in ids]

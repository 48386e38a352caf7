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
    """pids  of the processes, by what they are"""

    port: int
    token: str
    pids: dict[str, int] = field(default_factory=dict)

    def processors(self) -> float:
        """Seconds that its processes took so far, and the database's."""
        return spent.processors([*self.pids.values(), *spent.database()])


@contextmanager
def stack(children: int = 1, processes: int = 2) -> Iterator[Stack]:
    """Redis, web processes and a Celery worker of so many children."""
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
        name: subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
        for name, words in commands.items()
    }
    try:
        wait_until(lambda: answers(port), "the web server")
        yield Stack(port, token, {name: one.pid for name, one in running.items()})
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
    """What is out of these runs, in the order in which it was handed out."""
    rows = Assignment.objects.filter(candidate__run__in=runs).open()
    return list(rows.order_by("id").values_list("id", flat=True))


def put_aside(run: Run) -> None:
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.PAUSED)


# -- clients

Post = Callable[[Stack, Sequence[Any], float], int]


def post_all(
    to: Stack, what: Sequence[Any], post: "Post", seconds: float = SECONDS
) -> tuple[int, float]:
    """Every client posts its share, at most so long; how many answers went, in which time."""
    shares = [what[i::CLIENTS] for i in range(CLIENTS)]
    connection.close()
    start = time.perf_counter()
    with multiprocessing.get_context("fork").Pool(CLIENTS) as pool:
        counts = pool.starmap(post, [(to, share, seconds) for share in shares])
    return sum(counts), time.perf_counter() - start


def post_each(to: Stack, paths: Sequence[str], seconds: float = SECONDS) -> int:
    """One answer a request."""
    client, headers = _client(to)
    body, deadline = json.dumps({"response": "yes"}), time.perf_counter() + seconds
    for sent, path in enumerate(paths):
        if time.perf_counter() > deadline:
            return sent
        client.request("POST", path, body, headers)
        reply = client.getresponse()
        reply.read()
        assert reply.status == 201, reply.status
    return len(paths)


def post_batches(to: Stack, ids: Sequence[int], seconds: float = SECONDS) -> int:
    """``BATCH`` answers a request."""
    client, headers = _client(to)
    deadline = time.perf_counter() + seconds
    for start in range(0, len(ids), BATCH):
        if time.perf_counter() > deadline:
            return start
        part = ids[start : start + BATCH]
        body = json.dumps({"answers": [{"assignment": pk, "response": "yes"} for pk in part]})
        client.request("POST", "/api/answers", body, headers)
        reply = json.loads(client.getresponse().read())
        assert reply["taken"] == len(part), reply
    return len(ids)


def _client(to: Stack) -> tuple[http.client.HTTPConnection, dict[str, str]]:
    headers = {"Authorization": f"Bearer {to.token}", "Content-Type": "application/json"}
    return http.client.HTTPConnection("127.0.0.1", to.port), headers


def addresses(ids: Sequence[int]) -> list[str]:
    return [f"/api/assignments/{pk}/answer" for pk in ids]

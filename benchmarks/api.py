"""Answers recorded per second over HTTP, and how soon a worker has its next assignment.

The real web server, Celery worker and Redis; 4 client processes. The yardstick is a view that only
inserts the same row, on the same stack.
"""

import http.client
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import connection

from crowdselect.redis_server import command
from selection import engine
from selection.models import ApiToken, Assignment, Run
from tests.processes import wait_until
from tests.worlds import make_run, open_of

from .tables import show

CLIENTS = 4
SECONDS = 8.0


def main() -> None:
    connection.close()
    with stack() as port:
        token = ApiToken.issue("bench")
        bare = recorded_per_second(port, lambda run, a: f"/bare/{run.pk}/{a}", token)
        api = recorded_per_second(port, lambda run, a: f"/api/assignments/{a}/answer", token)
        again = recorded_per_second(port, lambda run, a: f"/bare/{run.pk}/{a}", token)
        show(
            f"answers recorded per second by {CLIENTS} clients on {connection.vendor}",
            ["bare insert", "API", "bare insert again", "API / bare"],
            [[bare, api, again, f"{2 * api / (bare + again):.2f}"]],
        )
        show(
            "seconds from an answer's commit to the worker's next assignment, under that load",
            ["median", "p95", "most"],
            [[f"{value:.2f}" for value in lags(port, token)]],
        )
        rows = [[n, per_answer(port, token, n)] for n in (100, 1_000)]
        show("AdaptiveTopK on the API: answers per second by pool", ["workers", "rate"], rows)


@contextmanager
def stack(children: int = 1) -> Iterator[int]:
    """Redis, the web server and a Celery worker of so many processes; gives the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "benchmarks.settings"}
    python = [sys.executable, "-m"]
    web = ["crowdselect.web_server", f"127.0.0.1:{port}", "--processes", "2"]
    celery = ["celery", "-A", "crowdselect", "worker", "--concurrency", str(children)]
    commands = [
        command(Path(settings.REDIS_URL.removeprefix("unix://"))),
        [*python, *web],
        [*python, *celery, "--loglevel", "error", "--without-gossip", "--without-mingle"],
    ]
    running = [
        subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL) for words in commands
    ]
    try:
        wait_until(lambda: answers(port), "the web server")
        yield port
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait()


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


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


def recorded_per_second(port: int, address, token: str) -> float:
    run = crowded_run()
    paths = [address(run, a) for a in open_ids(run)]
    counts, seconds = post_all(port, token, [paths[i::CLIENTS] for i in range(CLIENTS)])
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.PAUSED)
    return sum(counts) / seconds


def open_ids(run: Run) -> list[int]:
    return list(Assignment.objects.filter(candidate__run=run).open().values_list("id", flat=True))


def post_all(
    port: int, token: str, shares: list[list[str]], seconds: float = SECONDS
) -> tuple[list[int], float]:
    """Every client posts its share, at most so long."""
    connection.close()
    start = time.perf_counter()
    with multiprocessing.get_context("fork").Pool(len(shares)) as pool:
        counts = pool.starmap(post, [(port, token, share, seconds) for share in shares])
    return counts, time.perf_counter() - start


def post(port: int, token: str, paths: list[str], seconds: float = SECONDS) -> int:
    client = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body, deadline = json.dumps({"response": "yes"}), time.perf_counter() + seconds
    for sent, path in enumerate(paths):
        if time.perf_counter() > deadline:
            return sent
        client.request("POST", path, body, headers)
        reply = client.getresponse()
        reply.read()
        assert reply.status == 201, reply.status
    return len(paths)


def lags(port: int, token: str) -> list[float]:
    """While the clients post to one run, a worker of another answers and waits for its next."""
    busy, probe = crowded_run(), crowded_run(n=50, hands=1)
    paths = [f"/api/assignments/{a}/answer" for a in open_ids(busy)]
    connection.close()
    clients = [
        multiprocessing.get_context("fork").Process(
            target=post, args=(port, token, paths[i::CLIENTS])
        )
        for i in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    waits = [next_assignment(port, token, probe) for _ in range(8)]
    for client in clients:
        client.join()
    return [float(value) for value in (np.median(waits), np.quantile(waits, 0.95), max(waits))]


def next_assignment(port: int, token: str, run: Run) -> float:
    first = open_of(run)[0]
    post(port, token, [f"/api/assignments/{first.pk}/answer"])
    start, waiting = time.perf_counter(), Assignment.objects.open()
    mine = waiting.filter(candidate=first.candidate_id)
    wait_until(mine.exists, "the next assignment")
    return time.perf_counter() - start


def per_answer(port: int, token: str, n: int) -> float:
    """Answers per second of a whole run, clients and steps side by side, for SECONDS or more."""
    run, counted, start = crowded_run(n, hands=3), 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        ids = open_ids(run)
        shares = [[f"/api/assignments/{a}/answer" for a in ids[i::CLIENTS]] for i in range(CLIENTS)]
        counts, _ = post_all(port, token, shares)
        counted += sum(counts)
        if not ids:
            time.sleep(0.05)
    rate = counted / (time.perf_counter() - start)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.PAUSED)
    return rate

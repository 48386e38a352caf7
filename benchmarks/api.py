"""How soon a worker has its next assignment under load, and answers a second by the size of a pool.

How many answers are recorded a second, beside a bare insert, is ``benchmarks.load``'s.
"""

import multiprocessing
import time

import numpy as np
from django.db import connection

from selection.models import Assignment, Run
from tests.processes import wait_until
from tests.worlds import open_of

from .stack import (
    CLIENTS,
    SECONDS,
    Stack,
    addresses,
    crowded_run,
    open_ids,
    post_all,
    post_each,
    put_aside,
    stack,
)
from .tables import show


def main() -> None:
    with stack() as running:
        show(
            f"seconds from an answer's commit to the worker's next assignment, {connection.vendor}",
            ["median", "p95", "most"],
            [[f"{value:.2f}" for value in lags(running)]],
        )
        rows = [[n, per_answer(running, n)] for n in (100, 1_000)]
        show("AdaptiveTopK on the API: answers per second by pool", ["workers", "rate"], rows)


def lags(to: Stack) -> list[float]:
    """While the clients post to one run, a worker of another answers and waits for its next."""
    busy, probe = crowded_run(), crowded_run(n=50, hands=1)
    paths = addresses(open_ids(busy))
    connection.close()
    context = multiprocessing.get_context("fork")
    shares = [(to, paths[i::CLIENTS]) for i in range(CLIENTS)]
    clients = [context.Process(target=post_each, args=share) for share in shares]
    for client in clients:
        client.start()
    waits = [next_assignment(to, probe) for _ in range(8)]
    for client in clients:
        client.join()
    return [float(value) for value in (np.median(waits), np.quantile(waits, 0.95), max(waits))]


def next_assignment(to: Stack, run: Run) -> float:
    first = open_of(run)[0]
    post_each(to, addresses([first.pk]))
    start, waiting = time.perf_counter(), Assignment.objects.open()
    mine = waiting.filter(candidate=first.candidate_id)
    wait_until(mine.exists, "the next assignment")
    return time.perf_counter() - start


def per_answer(to: Stack, n: int) -> float:
    """Answers per second of a whole run, clients and steps side by side, for SECONDS or more."""
    run, counted, start = crowded_run(n, hands=3), 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        ids = open_ids(run)
        counted += post_all(to, addresses(ids), post_each)[0]
        if not ids:
            time.sleep(0.05)
    rate = counted / (time.perf_counter() - start)
    put_aside(run)
    return rate

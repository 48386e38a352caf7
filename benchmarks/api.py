"""Benchmark of the API: a worker's wait for the next assignment, and answers a second by pool size.

The rate of recording answers, beside a bare insert, is measured by ``benchmarks.load``.
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


def lags(server: Stack) -> list[float]:
    """Return a worker's waits for the next assignment while clients post to another run."""
    busy, probe = crowded_run(), crowded_run(n=50, hands=1)
    paths = addresses(open_ids(busy))
    connection.close()
    context = multiprocessing.get_context("fork")
    shares = [(server, paths[i::CLIENTS]) for i in range(CLIENTS)]
    clients = [context.Process(target=post_each, args=share) for share in shares]
    for client in clients:
        client.start()
    waits = [next_assignment(server, probe) for _ in range(8)]
    for client in clients:
        client.join()
    return [float(value) for value in (np.median(waits), np.quantile(waits, 0.95), max(waits))]


def next_assignment(server: Stack, run: Run) -> float:
    first = open_of(run)[0]
    post_each(server, addresses([first.pk]))
    start, outstanding = time.perf_counter(), Assignment.objects.open()
    next_ones = outstanding.filter(candidate=first.candidate_id)
    wait_until(next_ones.exists, "the next assignment")
    return time.perf_counter() - start


def per_answer(server: Stack, n: int) -> float:
    """Return answers per second of a whole run with its steps, measured for SECONDS or more."""
    run, counted, start = crowded_run(n, hands=3), 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        ids = open_ids(run)
        counted += post_all(server, addresses(ids), post_each)[0]
        if not ids:
            time.sleep(0.05)
    rate = counted / (time.perf_counter() - start)
    put_aside(run)
    return rate

"""Costs of a run with 100,000 workers and a million answers, by process; extends ``make load``.

An answer's cost there beside that of 1,000 workers with as many answers each, and the peak of
memory of every process that reads or writes such a run. Ten minutes; ``LARGE=10000`` is quicker.
"""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection

from selection import engine
from selection.models import Run
from tests.worlds import make_pool, make_questions, make_run

from . import spent
from .crowds import answer_out
from .stack import (
    Post,
    Stack,
    addresses,
    open_ids,
    post_all,
    post_batches,
    post_each,
    put_aside,
    stack,
)
from .tables import show

LARGE = int(os.environ.get("LARGE", "100000"))
SMALL = 1_000
EACH = 10  # answers of each worker
SLOTS = 20_000  # out at once, while clients answer
SECONDS = 20.0
FORMATS = ("csv", "xlsx", "all-csv", "json", "report", "answers", "payment")
READS = ("standings?limit=1000", "selection", "history", "answers?limit=1000")
API = (*READS, *(f"export?format={name}" for name in (*FORMATS, "dump")))


def main() -> None:
    small, large = grown(SMALL), grown(LARGE)
    with stack(children=1, processes=1) as running:
        rows = [
            [way, *(cost(running, run, post) for run in (small, large))]
            for way, post in (("one by one", post_each), ("in batches", post_batches))
        ]
        show(
            f"an answer's cost by the API on {connection.vendor}, milliseconds of processors of "
            f"web, engine and database; {spent.busy()}",
            ["sent", f"{SMALL:,} workers", f"{LARGE:,} workers", "times"],
            [[*row, f"{row[2] / row[1]:.2f}"] for row in rows],
        )
        memory = list(measure_processes(running, large))
    show(
        f"{LARGE:,} workers and {EACH * LARGE:,} answers on {connection.vendor}; {spent.busy()}",
        ["process", "what it did", "seconds", "of processors", "MB at most"],
        [*memory, measure_recount(large)],
    )


def grown(n: int) -> Run:
    """Return a run in which each of n workers has given EACH answers, step by step."""
    rows, options = [], {"k": n // 5, "algorithm": "certified", "epsilon": 0.002}
    run = make_run(
        pool=make_pool(n),
        question_set=make_questions(500),
        slots=n,
        slots_per_worker=EACH,
        **options,
    )
    spent.forget_peak(os.getpid())
    for _ in range(EACH):
        process_time, server = time.process_time(), spent.processors(spent.database())
        engine.advance(run.pk)
        took = time.process_time() - process_time
        rows.append([took, spent.processors(spent.database()) - server])
        answer_out(run)
    own_ms, server_ms = (1e6 * sum(column) / (n * EACH) for column in zip(*rows, strict=True))
    show(
        f"{EACH} steps of {n:,} answers each, microseconds of processors an answer",
        ["step", "database", "MB at most"],
        [[own_ms, server_ms, spent.peak(os.getpid())]],
    )
    Run.objects.filter(pk=run.pk).update(slots=SLOTS)
    engine.advance(run.pk)
    return run


# -- cost


def cost(server: Stack, run: Run, post: Post) -> float:
    """Return the milliseconds of processors for an answer, until all that was sent is counted."""
    ids = open_ids(run)[:SLOTS]
    before = server.processors()
    sent, _ = post_all(server, addresses(ids) if post is post_each else ids, post, SECONDS)
    time.sleep(3)
    return 1000 * (server.processors() - before) / sent


# -- memory


def measure_processes(server: Stack, run: Run) -> Iterator[list[object]]:
    web, worker = spent.children(server.pids["web"])[-1], spent.children(server.pids["celery"])[-1]
    yield ["Celery", "steps of such a run, until now", "", "", spent.peak(worker)]
    yield ["web", "took these answers", "", "", spent.peak(web)]
    put_aside(run)
    signed_in = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session()}"}
    page = f"/admin/selection/run/{run.pk}/"
    for path in (page, f"{page}live/"):
        yield ["web", path, *measure_request(server, web, path, signed_in)]
    token = {"Authorization": f"Bearer {server.token}"}
    for path in API:
        yield ["web", path, *measure_request(server, web, f"/api/runs/{run.pk}/{path}", token)]


def session() -> str:
    user = User.objects.create_superuser("large", password="large")
    store = SessionStore()
    store["_auth_user_id"] = str(user.pk)
    store["_auth_user_backend"] = "selection.accounts.RoleBackend"
    store["_auth_user_hash"] = user.get_session_auth_hash()
    store.save()
    return str(store.session_key)


def measure_request(server: Stack, web: int, path: str, headers: dict[str, str]) -> list[float]:
    """Return seconds by the clock, of processors, and the peak of the answering process."""
    spent.forget_peak(web)
    before = server.processors()
    client, start = http.client.HTTPConnection("127.0.0.1", server.port), time.perf_counter()
    client.request("GET", path, headers=headers)
    reply = client.getresponse()
    while reply.read(1 << 20):
        pass
    assert reply.status == 200, (path, reply.status)
    return [time.perf_counter() - start, server.processors() - before, spent.peak(web)]


def measure_recount(run: Run) -> list[object]:
    """Return the row of the command in a process of its own, which prints its peak."""
    call, start = ["-m", "benchmarks.command", "recount", str(run.pk)], time.perf_counter()
    result = subprocess.run([sys.executable, *call], capture_output=True, text=True, check=True)
    took = time.perf_counter() - start
    return ["manage.py", "recount", took, "", float(result.stdout.split()[-1])]

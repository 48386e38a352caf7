"""Cost of an open page of a run: bytes sent and time taken, by the size of the pool.

The server's part alone, without a network; the browser asks every two seconds.
"""

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from crowdselect.start.redis_server import redis_command
from selection import engine
from selection.models import Run
from tests.processes import wait_until
from tests.worlds import answer_all, crowd, make_run, play

from .tables import show

REFRESHES = 5


def main() -> None:
    with redis():
        measure()


@contextmanager
def redis() -> Iterator[None]:
    """Run the Redis server that the settings name."""
    socket = Path(settings.REDIS_URL.removeprefix("unix://"))
    server = subprocess.Popen(redis_command(socket), stdout=subprocess.DEVNULL)
    try:
        wait_until(socket.exists, "the Redis socket")
        yield
    finally:
        server.terminate()
        server.wait()


def measure() -> None:
    client = Client(HTTP_HOST="127.0.0.1", HTTP_ACCEPT_ENCODING="gzip")
    client.force_login(User.objects.get_or_create(username="bench", is_superuser=True)[0])
    User.objects.filter(username="bench").update(is_staff=True)
    rows = [[n, *costs(client, n)] for n in (100, 1_000, 10_000)]
    show(
        "a run's page while it is open, certified",
        ["workers", "page kB", "page s", "refresh kB, most", "refresh s", "unchanged s"],
        rows,
    )


def costs(client: Client, n: int) -> list[str]:
    respond = crowd(1, n // 20)
    run = make_run(n=n, k=n // 20, questions=200, algorithm="certified", epsilon=0.05, slots=n // 5)
    play(run, respond, most=5)
    page, opened = timed(client, "page", run, "")
    match = re.search(r'data-live="(\w+)"', page.content.decode())
    tag, sizes, spans = match[1] if match else "", [], []
    for _ in range(REFRESHES):
        answer_all(run, respond)
        engine.advance(run.pk)
        reply, span = timed(client, "live", run, tag)
        tag = reply.headers["ETag"].strip('W/"')
        sizes.append(len(reply.content) / 1000)
        spans.append(span)
    same, span = timed(client, "live", run, tag)
    assert same.status_code == 304, same.status_code
    return [
        f"{len(page.content) / 1000:.0f}",
        f"{opened:.2f}",
        f"{max(sizes):.1f}",
        f"{sum(spans) / REFRESHES:.2f}",
        f"{span:.3f}",
    ]


def timed(client: Client, name: str, run: Run, tag: str):
    start = time.perf_counter()
    url = reverse(f"admin:selection_run_{name}", args=[run.pk])
    reply = client.get(url, headers={"If-None-Match": f'"{tag}"'})
    return reply, time.perf_counter() - start

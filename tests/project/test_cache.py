"""A Redis that takes a connection and says nothing is waited for once."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as set_up
from redis import TimeoutError

from crowdselect import cache
from crowdselect.cache import Cache
from selection import tasks
from selection.outbox import celery_messages
from tests.faults.links import free_port
from tests.faults.services import redis_server, running
from tests.worlds import make_run

SECONDS = 0.05


@pytest.fixture(autouse=True)
def clock(monkeypatch) -> Iterator[list[float]]:
    """The time of the cache alone."""
    now = [1000.0]
    monkeypatch.setattr(cache, "monotonic", lambda: now[0])
    yield now
    cache._rests.clear()


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "redis.sock"))
        listener.listen(20)
        listener.setblocking(False)
        yield listener


def asking(location: str) -> Cache:
    """As the settings have it, but for how long it waits."""
    impatient = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS}
    return Cache(location, {"OPTIONS": set_up.CACHES["default"]["OPTIONS"] | impatient})


def connections(listener: socket.socket) -> int:
    """How many have come since this was asked last."""
    count = 0
    while True:
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


def ask(*caches: Cache) -> None:
    for each in caches:
        for do in (lambda c: c.get("a"), lambda c: c.set("a", 1), lambda c: c.add("a", 1)):
            with pytest.raises(TimeoutError):
                do(each)


def test_silent_cache_costs_one_wait_until_its_rest_is_over(silent, clock):
    location = f"unix://{silent.getsockname()}"
    ask(asking(location), asking(location))  # each thread has its own
    assert connections(silent) == 1
    clock[0] += cache.REST_SECONDS + 0.1
    ask(asking(location))
    assert connections(silent) == 1


def test_second_cache_answers_while_the_first_is_silent(silent):
    ask(asking(f"unix://{silent.getsockname()}"))
    own = asking(set_up.REDIS_URL)
    own.set("a", 3)
    assert own.get("a") == 3


def test_resting_cache_serves_again_once_reachable(silent, clock):
    place = silent.getsockname()
    ask(asking(f"unix://{place}"))
    cache._rests[set_up.REDIS_URL,] = cache._rests.pop((f"unix://{place}",))
    own = asking(set_up.REDIS_URL)
    ask(own)
    clock[0] += cache.REST_SECONDS + 0.1
    own.set("a", 3)
    assert own.get("a") == 3
    assert not cache._rests


def test_restarted_cache_is_reconnected_at_once(tmp_path):
    port = free_port()
    own = asking(f"redis://127.0.0.1:{port}/0")
    with running(redis_server(tmp_path, port), signal.SIGKILL) as redis:
        own.set("a", 3)
        redis.end(signal.SIGKILL)
    with running(redis_server(tmp_path, port), signal.SIGKILL):
        assert own.get("b", 4) == 4


@pytest.mark.django_db
def test_a_message_that_came_through_is_worked_on_all_the_same(silent, settings):
    """As when Redis is just back: the message would be gone, and the step wait for a sweep."""
    run = make_run()
    own = settings.CACHES["default"] | {"LOCATION": f"unix://{silent.getsockname()}"}
    settings.CACHES = {"default": own}
    cache._rests[own["LOCATION"],] = cache.monotonic() + 1
    tasks.advance(run.pk)
    run.refresh_from_db()
    assert run.steps == 1
    celery_messages.mark_received("selection.tasks.deliver", 1)

"""Requests that wait for a thread: answers count from when they arrived, and nothing beats."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
import waitress
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.utils import timezone

from crowdselect.web import request_queue
from selection import db_clock, engine
from selection.answers import outages, overdue, presence
from selection.models import Answer, Assignment, Event, Heartbeat, Run
from selection.worker import links
from tests.processes import wait_until
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 2
SHORT = timedelta(seconds=1)


class Server:
    """Waitress as the project runs it; ``/hold`` holds its threads until ``release``."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.release, self.held = threading.Event(), threading.Semaphore(0)
        self.django = get_wsgi_application()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.server = waitress.create_server(self.serve, sockets=[self.listener], threads=THREADS)
        self.server.channel_class = request_queue.Channel
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def run(self) -> None:
        while not self.stop.is_set():
            self.server.asyncore.loop(timeout=0.1, map=self.server._map, count=1)

    def serve(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        if environ["PATH_INFO"] != "/hold":
            return self.django(environ, start_response)
        self.held.release()
        self.release.wait(60)
        start_response("200 OK", [("Content-Length", "0")])
        return [b""]

    def arrived(self) -> int:
        """Return how many requests are there, answered or waiting."""
        return sum(len(one.requests) for one in list(self.server.active_channels.values()))


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.run)
    thread.start()
    yield made
    made.release.set()
    all_closed = threading.Barrier(THREADS + 1)
    for _ in range(THREADS):
        made.server.add_task(Closing(all_closed))
    all_closed.wait(60)
    made.server.task_dispatcher.shutdown()
    made.stop.set()
    thread.join(60)
    made.server.asyncore.close_all(made.server._map)


class Closing:
    """Closes one thread's database connections; the barrier sees that each thread has one."""

    def __init__(self, all_closed: threading.Barrier) -> None:
        self.all_closed = all_closed

    def service(self) -> None:
        connections.close_all()
        self.all_closed.wait(60)

    def cancel(self) -> None:
        pass


def beat(waited: float) -> None:
    outages.record_heartbeat(waited=timedelta(seconds=waited))


@contextmanager
def overloaded(server: Server) -> Iterator[None]:
    """All threads are busy in this block."""
    with ExitStack() as until_end:
        for _ in range(THREADS):
            until_end.enter_context(asked(f"{server.url}/hold"))
        for _ in range(THREADS):
            assert server.held.acquire(timeout=60)
        yield
        server.release.set()


@contextmanager
def asked(url: str, **sent: Any) -> Iterator[list[httpx.Response]]:
    """Send a request in this block; the list has its reply at the end of the block."""
    replies: list[httpx.Response] = []
    method = "POST" if sent else "GET"
    thread = threading.Thread(
        target=lambda: replies.append(httpx.request(method, url, timeout=60, **sent))
    )
    thread.start()
    yield replies
    thread.join(60)


@pytest.fixture
def slip() -> Assignment:
    """A question that a worker was shown and has a moment to answer."""
    run = make_run(minutes=1)
    engine.advance(run.pk)
    own = open_of(run)[0]
    presence.record_shown(run, [own.pk])
    outages.record_heartbeat()
    Assignment.objects.filter(pk=own.pk).update(due=timezone.now() + 3 * SHORT)
    own.refresh_from_db()
    return own


def by_api(slip: Assignment, token: str) -> tuple[str, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}"}
    return f"/api/assignments/{slip.pk}/answer", {"json": {"response": "yes"}, "headers": headers}


def in_a_batch(slip: Assignment, token: str) -> tuple[str, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}"}
    answers = [{"assignment": slip.pk, "response": "yes"}]
    return "/api/answers", {"json": {"answers": answers}, "headers": headers}


def on_the_page(slip: Assignment, token: str) -> tuple[str, dict[str, Any]]:
    path = f"/work/{links.worker_token(slip.candidate_id)}/"
    return path, {"data": {"assignment": slip.pk, "response": "yes"}}


def by_rows(slip: Assignment, token: str) -> tuple[str, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}"}
    row = {
        "worker": slip.candidate.worker.key,
        "question": slip.question.key,
        "response": "yes",
    }
    return f"/api/runs/{slip.candidate.run_id}/answers", {
        "json": {"answers": [row]},
        "headers": headers,
    }


def time_is_up(slip: Assignment) -> None:
    """Wait until the time to answer is over, and the web said that it was there."""
    wait_until(
        lambda: db_clock.database_now() > slip.due + timedelta(milliseconds=100),
        "the time to be up",
    )
    Heartbeat.objects.update(at=db_clock.database_now())


@pytest.mark.parametrize("way", [by_api, in_a_batch, on_the_page, by_rows])
def test_an_answer_that_arrived_in_time_is_taken_however_long_it_waits(server, slip, token, way):
    path, sent = way(slip, token)
    with overloaded(server), asked(server.url + path, **sent) as replies:
        wait_until(lambda: server.arrived() == THREADS + 1, "the answer to arrive")
        assert db_clock.database_now() < slip.due
        time_is_up(slip)
        server.release.set()
    assert replies[0].status_code in (200, 201, 303), replies[0].text
    answer = Answer.objects.get(pk=slip.pk)
    assert (answer.response, answer.expired) == ("yes", False)
    if way is not by_rows:
        assert answer.at < slip.due


def test_an_answer_that_arrived_too_late_is_not_taken(server, slip, token):
    path, sent = by_api(slip, token)
    time_is_up(slip)
    with asked(server.url + path, **sent) as replies:
        pass
    assert replies[0].status_code == 409
    assert "Too late" in replies[0].text


def test_an_overloaded_web_does_not_beat_and_nothing_lapses(server, slip, token):
    """The beat waits behind the answer: its message is true of the answer."""
    path, sent = by_api(slip, token)
    beaten = threading.Event()
    Heartbeat.objects.update(at=slip.shown)
    with overloaded(server), asked(server.url + path, **sent):
        wait_until(lambda: server.arrived() == THREADS + 1, "the answer to arrive")
        server.server.add_task(request_queue.BeatTask(server.server, [0.0], 0, beat, beaten.set))
        wait_until(lambda: db_clock.database_now() > slip.due, "the time to be up")
        assert not beaten.is_set()
        assert sorted(overdue.expire_overdue()) == []
        server.release.set()
    assert beaten.wait(60)
    assert Answer.objects.get(pk=slip.pk).response == "yes"


def test_a_web_that_took_nothing_up_for_long_was_away():
    run: Run = make_run(minutes=1)
    engine.advance(run.pk)
    presence.record_shown(run, [open_of(run)[0].pk])
    start = timezone.now()
    Assignment.objects.exclude(due=None).update(shown=start, due=start + timedelta(seconds=60))
    outages.record_heartbeat(start)
    passed = start + timedelta(seconds=100)
    outages.record_heartbeat(passed, waited=timedelta(seconds=98))  # its message is 2 s later
    assert Heartbeat.objects.last_seen(Heartbeat.WEB) == start
    assert sorted(overdue.expire_overdue(now=passed)) == []
    outages.record_heartbeat(passed, waited=timedelta(seconds=50))
    assert Heartbeat.objects.last_seen(Heartbeat.WEB) == start + timedelta(seconds=50)
    assert "for 50 s" in Event.objects.get(kind="outage").what
    due = Assignment.objects.exclude(due=None).get().due
    assert due == start + timedelta(seconds=110)


def test_a_process_that_waits_for_longer_than_another_does_not_put_the_clock_back():
    run: Run = make_run(minutes=1)
    engine.advance(run.pk)
    start = timezone.now()
    outages.record_heartbeat(start)
    outages.record_heartbeat(start + timedelta(seconds=2), waited=timedelta(seconds=60))
    assert Heartbeat.objects.last_seen(Heartbeat.WEB) == start
    assert not Event.objects.filter(kind="outage").exists()

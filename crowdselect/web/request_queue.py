"""Queue of complete requests between waitress's reading thread and its working threads.

Each request is stamped with the moment at which it was complete, by the clock ``monotonic``. (Its
first byte would not do: a client that sends a byte a minute would gain time.) The process's
heartbeat passes through the same queue, so that an overloaded process does not beat.
"""

import time
from collections.abc import Callable, Iterator, MutableSequence
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import BaseWSGIServer
from waitress.task import WSGITask

from selection import db_clock

# A thread that has worked on one request for longer is not recording an answer, because PostgreSQL
# gives a lock up after 10 seconds. It may be exporting, while other threads go on.
LONGEST_ANSWER = 15.0
GIVEN_UP = 300.0  # a process that took up no request for so long is frozen and not counted


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Parser that records when the request was complete, and when a thread began with it."""

    arrived = 0.0
    begun: float | None = None

    def received(self, data: bytes) -> int:
        consumed = int(super().received(data))
        if self.completed:
            self.arrived = time.monotonic()
        return consumed


class Task(WSGITask):  # type: ignore[misc]
    """Task that passes the time of arrival to the application."""

    def get_environment(self) -> dict[str, Any]:
        self.request.begun = time.monotonic()
        environment: dict[str, Any] = super().get_environment()
        return environment | {ARRIVED: self.request.arrived}


class Channel(HTTPChannel):  # type: ignore[misc]
    """Channel with the parser and the task of this module."""

    parser_class = Parser
    task_class = Task


class BeatTask:
    """A heartbeat in the queue of this server, in the form of waitress's tasks.

    taken_up  by web process of this host: requests that arrived before this time were taken up
    place     this process's index in it
    beat      records that requests which arrived until so many seconds ago were taken up
    done      called afterwards
    """

    def __init__(
        self,
        server: BaseWSGIServer,
        taken_up: MutableSequence[float],
        place: int,
        beat: Callable[[float], None],
        done: Callable[[], None],
    ) -> None:
        self.server, self.taken_up, self.place = server, taken_up, place
        self.beat, self.done = beat, done
        self.queued = time.monotonic()

    def service(self) -> None:
        """Beat for the slowest process of this host."""
        try:
            oldest = min([self.queued, *self._being_answered()])
            self.taken_up[self.place] = max(oldest, self.taken_up[self.place])
            now = time.monotonic()
            active = [moment for moment in self.taken_up if now - moment < GIVEN_UP]
            self.beat(now - min(active, default=oldest))
        finally:
            self.done()

    def cancel(self) -> None:
        self.done()

    def _being_answered(self) -> Iterator[float]:
        """Yield the arrival times of requests that a thread has had for a short time."""
        for channel in list(self.server.active_channels.values()):
            for request in channel.requests[:1]:
                start = request.begun
                if start is not None and time.monotonic() - start < LONGEST_ANSWER:
                    yield request.arrived


ARRIVED = "crowdselect.arrived"  # WSGI variable set by ``request_queue``; headers cannot set it


class Arrival:
    """Middleware that passes the web server's time stamp to ``db_clock.request_time``."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with db_clock.request_arrived(request.META.get(ARRIVED)):
            return self.get_response(request)

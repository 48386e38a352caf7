"""What waits in the queue between waitress's one reading thread and those that compute.

Requests wait there until a thread is free. Each is stamped with the moment at which it was whole,
by the clock ``monotonic``. (The first byte would not do: whoever sends a byte a minute would gain
time.) The process's heartbeat passes through the same queue, so that one which is overloaded does
not beat.
"""

import time
from collections.abc import Callable, Iterator, MutableSequence
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import BaseWSGIServer
from waitress.task import WSGITask

from .arrival import ARRIVED

# A thread that has been at one request for longer is not about to take an answer: PostgreSQL gives
# a lock up after 10 seconds. It exports something, say, and the others go on.
LONGEST_ANSWER = 15.0
GIVEN_UP = 300.0  # a process that took nothing up for so long is frozen: the others go on


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Notes when the request was whole, and when a thread began with it."""

    arrived = 0.0
    begun: float | None = None

    def received(self, data: bytes) -> int:
        consumed = int(super().received(data))
        if self.completed:
            self.arrived = time.monotonic()
        return consumed


class Task(WSGITask):  # type: ignore[misc]
    def get_environment(self) -> dict[str, Any]:
        self.request.begun = time.monotonic()
        environment: dict[str, Any] = super().get_environment()
        return environment | {ARRIVED: self.request.arrived}


class Channel(HTTPChannel):  # type: ignore[misc]
    parser_class = Parser
    task_class = Task


class BeatTask:
    """A heartbeat among the requests of this server, as waitress's queue takes tasks.

    taken_up  of each web process of this host: what arrived there until then was taken up
    place     this process's in it
    beat      says that what arrived until so many seconds ago was taken up
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
        """Beat for what all processes of this host have taken up: whichever is the last."""
        try:
            own = min([self.queued, *self._being_answered()])
            self.taken_up[self.place] = max(own, self.taken_up[self.place])
            now = time.monotonic()
            at_work = [moment for moment in self.taken_up if now - moment < GIVEN_UP]
            self.beat(now - min(at_work, default=own))
        finally:
            self.done()

    def cancel(self) -> None:
        self.done()

    def _being_answered(self) -> Iterator[float]:
        """Yield when those requests arrived that a thread has, but not for long."""
        for channel in list(self.server.active_channels.values()):
            for request in channel.requests[:1]:
                begun = request.begun
                if begun is not None and time.monotonic() - begun < LONGEST_ANSWER:
                    yield request.arrived

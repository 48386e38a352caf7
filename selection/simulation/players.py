"""Play a crowd against a running server: several clients, each with some of the workers."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, PriorityQueue
from threading import Event, Lock, Thread
from typing import Any

from selection.errors import Refused
from selection.replays.crowd import number_of

from .crowd import Crowd
from .server import ServerConnection

POLL_SECONDS = 0.2
LOOK_SECONDS = 1.0
CATCH_UP_SECONDS = 0.5


@dataclass(frozen=True)
class CrowdPace:
    """Speed of a crowd.

    rate     answers a second of the whole crowd; 0 for as many as possible
    think    mean seconds that a worker thinks about a question
    clients  that answer at once
    """

    rate: float
    think: float
    clients: int


def play_crowd(
    connect: Callable[[Event], ServerConnection],
    crowd: Crowd,
    pace: CrowdPace,
    seed: int,
    on_progress: Callable[[dict[str, Any], int], object],
) -> int:
    """Answer until the run has ended. Return the number of accepted answers.

    connect      returns a new client for every thread
    on_progress  called about once a second with the state of the run and the number of accepted
                 answers

    Raises Refused when a client is refused.
    """
    stop, pacer = Event(), Pacer(pace.rate)
    players = [
        Player(connect(stop), pacer, random.Random(f"{seed}-{i}"), pace.think, stop)
        for i in range(pace.clients)
    ]
    try:
        for player in players:
            player.start()
        _deal_until_end(connect(stop), crowd, players, on_progress, stop)
    finally:
        stop.set()
        for player in players:
            player.join()
    for player in players:
        if player.failure:
            raise player.failure
    return sum(player.taken for player in players)


def _deal_until_end(
    server: ServerConnection,
    crowd: Crowd,
    players: list["Player"],
    on_progress: Callable[[dict[str, Any], int], object],
    stop: Event,
) -> None:
    newest, look = 0, 0.0
    while not stop.wait(POLL_SECONDS):
        if time.monotonic() >= look:
            run = server.run()
            on_progress(run, sum(player.taken for player in players))
            if run["status"] == "ended":
                return
            look = time.monotonic() + LOOK_SECONDS
        for assignment in server.open_assignments(newest):
            newest = assignment["id"]
            _queue_assignment(assignment, crowd, players)


def _queue_assignment(assignment: dict[str, Any], crowd: Crowd, players: list["Player"]) -> None:
    worker = assignment["worker"]
    response = crowd.respond(worker, assignment["question"], assignment["choices"])
    if response is not None:
        players[number_of(worker) % len(players)].think_about(assignment["id"], response)


class Player(Thread):
    """A client that answers for some of the workers, each question after some thought."""

    def __init__(
        self,
        server: ServerConnection,
        pacer: "Pacer",
        rng: random.Random,
        think: float,
        stop: Event,
    ) -> None:
        super().__init__(daemon=True)
        self.server, self.pacer, self.rng, self.think, self.stop = server, pacer, rng, think, stop
        self.hand: PriorityQueue[tuple[float, int, str]] = PriorityQueue()
        self.taken = 0
        self.failure: Refused | None = None

    def think_about(self, assignment: int, response: str) -> None:
        ready = time.monotonic() + self.rng.uniform(0, 2 * self.think)
        self.hand.put((ready, assignment, response))

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                self._answer_next()
        except Refused as refusal:
            if not self.stop.is_set():
                self.failure = refusal
            self.stop.set()

    def _answer_next(self) -> None:
        try:
            ready, assignment, response = self.hand.get(timeout=POLL_SECONDS)
        except Empty:
            return
        self.stop.wait(max(0.0, ready - time.monotonic()))
        self.pacer.wait(self.stop)
        if not self.stop.is_set():
            self.taken += self.server.answer(assignment, response)


class Pacer:
    """Rate limiter: evenly spaced, but after an idle moment it catches up."""

    def __init__(self, rate: float) -> None:
        self.gap = 1 / rate if rate else 0.0
        self.lock, self.following = Lock(), 0.0

    def wait(self, stop: Event) -> None:
        with self.lock:
            now = time.monotonic()
            turn = max(now - CATCH_UP_SECONDS, self.following)
            self.following = turn + self.gap
        stop.wait(max(0.0, turn - now))

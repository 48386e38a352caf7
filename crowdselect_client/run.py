"""One run: its life, ask and tell, and what came of it."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Unpack

from .connection import ApiError, Connection
from .replies import (
    Assignment,
    Batch,
    BatchRow,
    Changed,
    Changes,
    Claim,
    Given,
    Outcome,
    Page,
    PageIn,
    RunState,
    RunWorker,
    Selection,
    Settings,
    Standing,
    Verdict,
)

MOST_WORKERS, MOST_ANSWERS = 100, 1000  # of one request
OVER = {"done", "gone", "over"}


class Run:
    """A run by its id. Every method may raise ApiError."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._to, self.id = connection, number
        self._path = f"runs/{number}"

    # -- its life

    def show(self) -> RunState:
        """How it stands now."""
        return self._to.ask(RunState, "GET", self._path)

    def start(self, why: str = "") -> RunState:
        return self._move_run("start", why)

    def pause(self, why: str = "") -> RunState:
        return self._move_run("pause", why)

    def resume(self, why: str = "") -> RunState:
        return self._move_run("resume", why)

    def stop(self, why: str = "") -> RunState:
        """End it early, with what it can promise by then."""
        return self._move_run("stop", why)

    def _move_run(self, name: str, why: str) -> RunState:
        """why  kept in the run's history"""
        path, said = f"{self._path}/moves/{name}", {"why": why} if why else None
        return self._to.ask(RunState, "POST", path, json=said, harmless=False)

    def replace(self, **settings: Unpack[Settings]) -> RunState:
        """Give a draft all its settings anew."""
        return self._to.ask(RunState, "PUT", self._path, json=settings)

    def change(self, **changes: Unpack[Changes]) -> Changed:
        """Change a run that has started; with ``preview=True`` only say what that would do."""
        return self._to.ask(Changed, "PATCH", self._path, json=changes)

    def copy(
        self, name: str | None = None, *, same_seed: bool = False, key: str | None = None
    ) -> "Run":
        """A draft of the same settings."""
        body = {"name": name, "same_seed": same_seed}
        made = self._to.create(RunState, f"{self._path}/copy", key, body)
        return Run(self._to, made["id"])

    def page(self) -> Page:
        """What its workers are told: pay, codes to hand in, what happens next."""
        return self._to.ask(Page, "GET", f"{self._path}/page")

    def tell_workers(self, **page: Unpack[PageIn]) -> Page:
        """Say all of that anew, at any time."""
        return self._to.ask(Page, "PUT", f"{self._path}/page", json=page)

    def wait(self, every: float = 2, at_most: float | None = None) -> RunState:
        """How it stands when it has ended. Raises TimeoutError after ``at_most`` seconds."""
        deadline = None if at_most is None else time.monotonic() + at_most
        while (state := self.show())["status"] != "ended":
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"The run “{state['name']}” has not ended in {at_most} s.")
            time.sleep(every)
        return state

    # -- ask and tell

    def claim(self, workers: Sequence[str], each: int = 1) -> list[Claim]:
        """Workers are there: what each has to answer now, at most ``each`` questions."""
        found: list[Claim] = []
        for first in range(0, len(workers), MOST_WORKERS):
            body = {"workers": list(workers[first : first + MOST_WORKERS]), "each": each}
            found += self._to.ask(list[Claim], "POST", f"{self._path}/claims", json=body)
        return found

    def rounds(
        self, workers: Sequence[str], each: int = 1, every: float = 1
    ) -> Iterator[list[Assignment]]:
        """What these workers have to answer, some questions at once, until none has any more.

        Tell what they say before the next ones are asked for: those not answered come again.

        each   most questions for each worker at once
        every  seconds between looks, while there are none

        Raises LookupError for a worker who is not in the run.
        """
        while True:
            claims = self.claim(workers, each)
            if strangers := [claim["worker"] for claim in claims if claim["state"] == "unknown"]:
                raise LookupError(f"Not in the run: {', '.join(strangers)}.")
            if found := [one for claim in claims for one in claim["assignments"]]:
                yield found
            elif all(claim["state"] in OVER for claim in claims):
                return
            else:
                time.sleep(every)

    def ask(self, workers: Sequence[str], each: int = 1, every: float = 1) -> Iterator[Assignment]:
        """The same, one question after the other."""
        for found in self.rounds(workers, each, every):
            yield from found

    def tell(self, assignment: Assignment | int, response: str) -> bool:
        """Answer a question. False if it came too late, another was first, or the run is over."""
        number = assignment if isinstance(assignment, int) else assignment["id"]
        try:
            self._to.send("POST", f"assignments/{number}/answer", json={"response": response})
        except ApiError as error:
            if error.status == 409:
                return False
            raise
        return True

    def tell_many(self, answers: Iterable[tuple[Assignment | int, str]]) -> list[BatchRow]:
        """Answer many questions: the status and error that each would have got by itself."""
        rows = [
            {"assignment": to if isinstance(to, int) else to["id"], "response": response}
            for to, response in answers
        ]
        results: list[BatchRow] = []
        for first in range(0, len(rows), MOST_ANSWERS):
            part = {"answers": rows[first : first + MOST_ANSWERS]}
            results += self._to.ask(Batch, "POST", "answers", json=part)["results"]
        return results

    def open(self, worker: str | None = None, peek: bool = False) -> Iterator[Assignment]:
        """Open questions, the oldest first. ``peek``: nobody's time to answer begins."""
        wanted = {"worker": worker, "peek": peek, "limit": 1000}
        return self._to.pages(Assignment, f"{self._path}/assignments", wanted)

    def workers(self) -> Iterator[RunWorker]:
        """Who is in it, each with the link to their own page."""
        return self._to.pages(RunWorker, f"{self._path}/workers", {"limit": 1000})

    # -- what came of it

    def standings(
        self, selected: bool | None = None, worker: str = "", verdict: Verdict | None = None
    ) -> Iterator[Standing]:
        wanted = {"selected": selected, "worker": worker, "verdict": verdict, "limit": 1000}
        return self._to.pages(Standing, f"{self._path}/standings", wanted)

    def selection(self) -> Selection:
        """Who is selected, with all that is needed to understand and repeat the run."""
        return self._to.ask(Selection, "GET", f"{self._path}/selection")

    def answers(self, worker: str = "", outcome: Outcome | None = None) -> Iterator[Given]:
        """Those given, graded, the first first."""
        wanted = {"worker": worker, "outcome": outcome, "limit": 1000}
        return self._to.pages(Given, f"{self._path}/answers", wanted)

    def export(self, format: str = "csv", **options: Any) -> bytes:
        """The run as a file. Formats and their options are in docs/exports.md."""
        query = {"format": format, **options}
        return self._to.send("GET", f"{self._path}/export", params=query).content

"""The way in: pools and their workers, question sets and their questions, runs."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Self, Unpack
from urllib.parse import quote

import httpx

from .connection import ApiError, Connection
from .file import File
from .replies import (
    FileState,
    Forecast,
    Media,
    Plan,
    Pool,
    PoolWorker,
    Practice,
    PracticeIn,
    Question,
    QuestionIn,
    QuestionSet,
    Rows,
    RunRow,
    RunState,
    Settings,
    Status,
    WorkerIn,
)
from .run import Run

MOST_ROWS = 10_000  # of one request


class Client:
    """A CrowdSelect server, as the team of a token sees it. Every method may raise ApiError.

    url      as in https://crowd.example.org
    token    its secret; it must manage, but for what its scope allows besides
    timeout  seconds that a connection may take, and each wait for a part of an answer
    tries    how often a request is sent at most, when the server is away or busy
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 30,
        tries: int = 6,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._to = Connection(url, token, timeout, tries, transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._to.http.close()

    # -- pools

    def create_pool(self, name: str, *, key: str | None = None) -> Pool:
        """An empty pool. ``key``: of your own, so that the program run again makes no second."""
        return self._to.create(Pool, "pools", key, {"name": name})

    def pools(self, name: str = "", search: str = "") -> Iterator[Pool]:
        return self._to.pages(Pool, "pools", {"name": name, "search": search})

    def put_workers(self, pool: int, workers: Sequence[WorkerIn]) -> Rows:
        """Add workers, or change those that are there."""
        return self._put_rows(f"pools/{pool}/workers", "workers", workers)

    def workers(self, pool: int, search: str = "") -> Iterator[PoolWorker]:
        return self._to.pages(PoolWorker, f"pools/{pool}/workers", {"search": search})

    # -- questions

    def create_question_set(
        self,
        name: str,
        instructions: str = "",
        *,
        markdown: bool = True,
        tries: int | None = None,
        most_workers: int | None = None,
        key: str | None = None,
    ) -> QuestionSet:
        body: dict[str, Any] = {
            "name": name,
            "instructions": instructions,
            "markdown": markdown,
            "tries": tries,
        }
        body["most_workers"] = most_workers
        return self._to.create(QuestionSet, "question-sets", key, body)

    def question_sets(self, name: str = "", search: str = "") -> Iterator[QuestionSet]:
        return self._to.pages(QuestionSet, "question-sets", {"name": name, "search": search})

    def put_questions(self, question_set: int, questions: Sequence[QuestionIn]) -> Rows:
        """Add gold questions, or change those that nobody was asked yet."""
        return self._put_rows(f"question-sets/{question_set}/questions", "questions", questions)

    def questions(
        self, question_set: int, search: str = "", retired: bool | None = None
    ) -> Iterator[Question]:
        wanted = {"search": search, "retired": retired}
        return self._to.pages(Question, f"question-sets/{question_set}/questions", wanted)

    def create_practice(
        self, question_set: int, *, key: str | None = None, **lesson: Unpack[PracticeIn]
    ) -> Practice:
        """A question that is asked first, explained, and never counted."""
        return self._to.create(Practice, f"question-sets/{question_set}/practice", key, lesson)

    def practice(self, question_set: int) -> list[Practice]:
        """In the order in which they are asked."""
        return self._to.ask(list[Practice], "GET", f"question-sets/{question_set}/practice")

    def replace_practice(
        self, question_set: int, practice: int, **lesson: Unpack[PracticeIn]
    ) -> Practice:
        """Give it all that it has anew."""
        path = f"question-sets/{question_set}/practice/{practice}"
        return self._to.ask(Practice, "PUT", path, json=lesson)

    def delete_practice(self, question_set: int, number: int) -> None:
        path = f"question-sets/{question_set}/practice/{number}"
        self._to.send("DELETE", path, harmless=False)

    def send_media(
        self, question_set: int, name: str, content: bytes, *, key: str | None = None
    ) -> Media:
        """A picture, sound or film that texts show as ``![words](media:NAME)``."""
        path = f"question-sets/{question_set}/media"
        return self._to.upload(Media, path, key, name, content)

    def media(self, question_set: int) -> Iterator[Media]:
        return self._to.pages(Media, f"question-sets/{question_set}/media", {})

    def delete_media(self, question_set: int, name: str) -> None:
        path = f"question-sets/{question_set}/media/{quote(name)}"
        self._to.send("DELETE", path, harmless=False)

    # -- files

    def send_workers(self, pool: int, name: str, content: bytes, *, key: str | None = None) -> File:
        """A file of workers: ``name`` it if need be, and ``take`` it."""
        return self._send_file(f"pools/{pool}/files", key, name, content)

    def send_questions(
        self, question_set: int, name: str, content: bytes, *, key: str | None = None
    ) -> File:
        """A file of gold questions."""
        return self._send_file(f"question-sets/{question_set}/files", key, name, content)

    def send_answers(self, run: int, name: str, content: bytes, *, key: str | None = None) -> File:
        """A file of answers that were given elsewhere."""
        return self._send_file(f"runs/{run}/files", key, name, content)

    def file(self, number: str) -> File:
        """The file of this id."""
        return File(self._to, number)

    def _send_file(self, path: str, key: str | None, name: str, content: bytes) -> File:
        return File(self._to, self._to.upload(FileState, path, key, name, content)["id"])

    # -- forecasts

    def forecast(
        self, *, every: float = 1, at_most: float | None = None, **plan: Unpack[Plan]
    ) -> Forecast:
        """Return what a run would cost, as soon as there are numbers; ``rows`` has the algorithms.

        For large pools they take a while: the server is asked ``every`` so many seconds. Raises
        TimeoutError after ``at_most`` seconds, ApiError also for a forecast that failed.
        """
        deadline = None if at_most is None else time.monotonic() + at_most
        shown = self._to.ask(Forecast, "POST", "forecasts", json=plan)
        while not shown["rows"]:
            if shown["state"] in ("failed", "cancelled"):
                raise ApiError(409, shown["error"] or "The forecast was cancelled.")
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"Forecast {shown['id']} has no numbers in {at_most} s.")
            time.sleep(every)
            shown = self.show_forecast(shown["id"])
        return shown

    def show_forecast(self, number: int) -> Forecast:
        """Return the forecast of this id as it is by now: its numbers get firmer for a while."""
        return self._to.ask(Forecast, "GET", f"forecasts/{number}")

    # -- runs

    def create_run(self, *, key: str | None = None, **settings: Unpack[Settings]) -> Run:
        """A draft; ``run.start()`` begins it. What is left out is as in the form."""
        made = self._to.create(RunState, "runs", key, settings)
        return Run(self._to, made["id"])

    def run(self, number: int) -> Run:
        """The run of this id; nothing is asked of the server yet."""
        return Run(self._to, number)

    def runs(
        self,
        name: str = "",
        search: str = "",
        status: Status | None = None,
        pool: int | None = None,
    ) -> Iterator[RunRow]:
        """The latest first."""
        wanted = {"name": name, "search": search, "status": status, "pool": pool}
        return self._to.pages(RunRow, "runs", wanted)

    def _put_rows(
        self, path: str, name: str, rows: Sequence[WorkerIn] | Sequence[QuestionIn]
    ) -> Rows:
        """All rows, in as many requests as it takes; numbers of rows are those in ``rows``."""
        total = Rows(added=0, changed=0, unchanged=0, refused=0, rows=[])
        for first in range(0, len(rows), MOST_ROWS):
            part = {name: list(rows[first : first + MOST_ROWS])}
            done = self._to.ask(Rows, "PUT", path, json=part)
            for name_of in ("added", "changed", "unchanged", "refused"):
                total[name_of] += done[name_of]
            total["rows"] += [{**row, "row": row["row"] + first} for row in done["rows"]]
        return total

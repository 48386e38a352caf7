"""Entry point: pools and their workers, question sets and their questions, runs, watches."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Self, Unpack
from urllib.parse import quote

import httpx

from .connection import ApiError, Connection
from .connections import Connections
from .file import File
from .models import Models
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
    Replay,
    ReplayDraft,
    ReplayPool,
    ReplayWanted,
    Rows,
    RunRow,
    RunState,
    Settings,
    Status,
    WatchSettings,
    WatchState,
    WorkerIn,
)
from .run import Run
from .watch import Watch

MOST_ROWS = 10_000  # per request


class Client:
    """A CrowdSelect server, as the team of a token sees it. Every method may raise ApiError.

    url      for example https://crowd.example.org
    token    its secret; with the scope to manage, unless a narrower one is enough
    timeout  seconds for a connection, and for each part of a reply
    tries    most attempts per request, if the server is unreachable or busy
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
        self.models = Models(self._to)
        self.connections = Connections(self._to)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._to.http.close()

    # -- pools

    def create_pool(self, name: str, *, key: str | None = None) -> Pool:
        """Create an empty pool.

        key  of your own: a program that is run again with it creates no second pool
        """
        return self._to.create(Pool, "pools", key, {"name": name})

    def pools(self, name: str = "", search: str = "") -> Iterator[Pool]:
        return self._to.pages(Pool, "pools", {"name": name, "search": search})

    def put_workers(self, pool: int, workers: Sequence[WorkerIn]) -> Rows:
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
        """Add gold questions, or change those that have not been asked yet."""
        return self._put_rows(f"question-sets/{question_set}/questions", "questions", questions)

    def questions(
        self, question_set: int, search: str = "", retired: bool | None = None
    ) -> Iterator[Question]:
        query = {"search": search, "retired": retired}
        return self._to.pages(Question, f"question-sets/{question_set}/questions", query)

    def create_practice(
        self, question_set: int, *, key: str | None = None, **lesson: Unpack[PracticeIn]
    ) -> Practice:
        """Create a question that is asked first, explained, and never counted."""
        return self._to.create(Practice, f"question-sets/{question_set}/practice", key, lesson)

    def practice(self, question_set: int) -> list[Practice]:
        return self._to.ask(list[Practice], "GET", f"question-sets/{question_set}/practice")

    def replace_practice(
        self, question_set: int, practice: int, **lesson: Unpack[PracticeIn]
    ) -> Practice:
        path = f"question-sets/{question_set}/practice/{practice}"
        return self._to.ask(Practice, "PUT", path, json=lesson)

    def delete_practice(self, question_set: int, number: int) -> None:
        path = f"question-sets/{question_set}/practice/{number}"
        self._to.send("DELETE", path, harmless=False)

    def send_media(
        self, question_set: int, name: str, content: bytes, *, key: str | None = None
    ) -> Media:
        """Upload a picture, sound or film that texts show as ``![words](media:NAME)``."""
        path = f"question-sets/{question_set}/media"
        return self._to.upload(Media, path, key, name, content)

    def media(self, question_set: int) -> Iterator[Media]:
        return self._to.pages(Media, f"question-sets/{question_set}/media", {})

    def delete_media(self, question_set: int, name: str) -> None:
        path = f"question-sets/{question_set}/media/{quote(name)}"
        self._to.send("DELETE", path, harmless=False)

    # -- files

    def send_workers(self, pool: int, name: str, content: bytes, *, key: str | None = None) -> File:
        """Upload a file of workers; ``name`` its columns if necessary, then ``take`` it."""
        return self._send_file(f"pools/{pool}/files", key, name, content)

    def send_questions(
        self, question_set: int, name: str, content: bytes, *, key: str | None = None
    ) -> File:
        return self._send_file(f"question-sets/{question_set}/files", key, name, content)

    def send_answers(self, run: int, name: str, content: bytes, *, key: str | None = None) -> File:
        return self._send_file(f"runs/{run}/files", key, name, content)

    def file(self, number: str) -> File:
        return File(self._to, number)

    def _send_file(self, path: str, key: str | None, name: str, content: bytes) -> File:
        return File(self._to, self._to.upload(FileState, path, key, name, content)["id"])

    # -- forecasts

    def forecast(
        self, *, every: float = 1, at_most: float | None = None, **plan: Unpack[Plan]
    ) -> Forecast:
        """Forecast the cost of a run, as soon as there are numbers; ``rows`` has the algorithms.

        For large pools they take a while: the server is asked ``every`` so many seconds. Raises
        TimeoutError after ``at_most`` seconds, ApiError also for a forecast that failed.
        """
        deadline = None if at_most is None else time.monotonic() + at_most
        forecast = self._to.ask(Forecast, "POST", "forecasts", json=plan)
        while not forecast["rows"]:
            if forecast["state"] in ("failed", "cancelled"):
                raise ApiError(409, forecast["error"] or "The forecast was cancelled.")
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"Forecast {forecast['id']} has no numbers in {at_most} s.")
            time.sleep(every)
            forecast = self.show_forecast(forecast["id"])
        return forecast

    def show_forecast(self, number: str) -> Forecast:
        """Read the current state of a forecast: its numbers get firmer for a while."""
        return self._to.ask(Forecast, "GET", f"forecasts/{number}")

    # -- replays of past answers

    def replay(
        self,
        answers: tuple[str, bytes] | None = None,
        key: tuple[str, bytes] | None = None,
        *,
        every: float = 1,
        at_most: float | None = None,
        **wanted: Unpack[ReplayWanted],
    ) -> Replay:
        """Count the answers that each method would have needed of these past ones.

        answers  (name, content) of a file; None: those of ``run`` or ``question_set``
        key      (name, content) of a file with the known answers; None: ``answers`` has them, or
                 ``question_set``

        The server is asked ``every`` so many seconds until all is replayed. Raises TimeoutError
        after ``at_most`` seconds, ApiError also for a replay that failed.
        """
        deadline = None if at_most is None else time.monotonic() + at_most
        replay = self.start_replay(answers, key, **wanted)
        while replay["state"] not in ("done", "failed"):
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"Replay {replay['id']} is not done in {at_most} s.")
            time.sleep(every)
            replay = self.show_replay(replay["id"])
        if replay["state"] == "failed":
            raise ApiError(409, replay["error"])
        return replay

    def start_replay(
        self,
        answers: tuple[str, bytes] | None = None,
        key: tuple[str, bytes] | None = None,
        **wanted: Unpack[ReplayWanted],
    ) -> Replay:
        """Upload past answers and return at once; ``show_replay`` has the numbers so far."""
        files = {name: file for name, file in (("file", answers), ("key", key)) if file}
        fields = {name: value for name, value in wanted.items() if value is not None}
        # A form with files even without one, because the server takes no other.
        parts = [*files.items(), *((name, (None, str(value))) for name, value in fields.items())]
        return self._to.ask(Replay, "POST", "replays", files=parts)

    def show_replay(self, number: str) -> Replay:
        """Read the progress of a replay, and its result so far."""
        return self._to.ask(Replay, "GET", f"replays/{number}")

    def create_replay_pool(self, number: str) -> int:
        """Create a pool of the replay's workers, with their past accuracy. Return its id."""
        path = f"replays/{number}/pool"
        return self._to.ask(ReplayPool, "POST", path, harmless=False)["pool"]

    def create_replay_draft(self, number: str, algorithm: str = "credible") -> Run:
        """Create a draft over the replay's workers and questions, with its settings."""
        path, body = f"replays/{number}/draft", {"algorithm": algorithm}
        draft = self._to.ask(ReplayDraft, "POST", path, harmless=False, json=body)
        return Run(self._to, draft["run"])

    def delete_replay(self, number: str) -> None:
        self._to.send("DELETE", f"replays/{number}", harmless=False)

    # -- runs

    def create_run(self, *, key: str | None = None, **settings: Unpack[Settings]) -> Run:
        """Create a draft; ``run.start()`` starts it. Omitted settings have the form's defaults."""
        state = self._to.create(RunState, "runs", key, settings)
        return Run(self._to, state["id"])

    def run(self, number: int) -> Run:
        return Run(self._to, number)

    def runs(
        self,
        name: str = "",
        search: str = "",
        status: Status | None = None,
        pool: int | None = None,
    ) -> Iterator[RunRow]:
        """Yield the runs, latest first."""
        query = {"name": name, "search": search, "status": status, "pool": pool}
        return self._to.pages(RunRow, "runs", query)

    # -- watches

    def create_watch(self, *, key: str | None = None, **settings: Unpack[WatchSettings]) -> Watch:
        """Watch the selected workers of an ended run, or workers of a pool."""
        state = self._to.create(WatchState, "watches", key, settings)
        return Watch(self._to, state["id"])

    def watch(self, number: int) -> Watch:
        """Return the watch with this id, without a request."""
        return Watch(self._to, number)

    def watches(self, name: str = "", search: str = "") -> Iterator[WatchState]:
        return self._to.pages(WatchState, "watches", {"name": name, "search": search})

    def _put_rows(
        self, path: str, name: str, rows: Sequence[WorkerIn] | Sequence[QuestionIn]
    ) -> Rows:
        """Send all rows in as many requests as necessary; row numbers refer to ``rows``."""
        total = Rows(added=0, changed=0, unchanged=0, refused=0, rows=[])
        for first in range(0, len(rows), MOST_ROWS):
            part = {name: list(rows[first : first + MOST_ROWS])}
            reply = self._to.ask(Rows, "PUT", path, json=part)
            for name_of in ("added", "changed", "unchanged", "refused"):
                total[name_of] += reply[name_of]
            total["rows"] += [{**row, "row": row["row"] + first} for row in reply["rows"]]
        return total

"""Watches: gold answers of workers during their work, and alarms."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Unpack
from urllib.parse import quote

from .connection import Connection
from .file import File
from .replies import (
    FileState,
    GoldAnswer,
    GoldAnswerIn,
    GoldLinks,
    Rows,
    WatchChanges,
    WatchConnection,
    WatchedWorker,
    WatchedWorkerIn,
    WatchState,
)

MOST_GOLD = 1000  # answers per request


class Watch:
    """A watch by its id. Every method may raise ApiError."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._to, self.id = connection, number
        self._path = f"watches/{number}"

    def show(self) -> WatchState:
        """Return its settings, and the next action."""
        return self._to.ask(WatchState, "GET", self._path)

    def change(self, **changes: Unpack[WatchChanges]) -> WatchState:
        """Change settings; another level or rule begins anew."""
        return self._to.ask(WatchState, "PATCH", self._path, json=changes)

    def stop(self) -> WatchState:
        return self._move("stop")

    def resume(self) -> WatchState:
        return self._move("resume")

    def recount(self) -> WatchState:
        """Grade all answers by the present keys, and count them anew."""
        return self._move("recount")

    def _move(self, name: str) -> WatchState:
        return self._to.ask(WatchState, "POST", f"{self._path}/transitions/{name}", harmless=False)

    def delete(self) -> None:
        """Delete the watch with its gold answers."""
        self._to.send("DELETE", self._path, harmless=False)

    # -- gold

    def record(
        self, answers: Sequence[GoldAnswerIn], on_mismatch: Literal["refuse", "wrong"] = "refuse"
    ) -> Rows:
        """Record gold answers, in the order in which they were asked; repeating changes nothing.

        on_mismatch  answers outside the choices are refused, or count as wrong
        """
        total = Rows(added=0, changed=0, unchanged=0, refused=0, rows=[])
        for first in range(0, len(answers), MOST_GOLD):
            body = {"answers": list(answers[first : first + MOST_GOLD]), "on_mismatch": on_mismatch}
            fates = self._to.ask(Rows, "POST", f"{self._path}/gold", json=body)
            for name in ("added", "unchanged", "refused"):
                total[name] += fates[name]
            total["rows"] += [{**row, "row": row["row"] + first} for row in fates["rows"]]
        return total

    def gold(self) -> Iterator[GoldAnswer]:
        return self._to.pages(GoldAnswer, f"{self._path}/gold", {})

    def send_gold(self, name: str, content: bytes, *, key: str | None = None) -> File:
        """Upload a file of gold answers; ``take`` it then."""
        state = self._to.upload(FileState, f"{self._path}/files", key, name, content)
        return File(self._to, state["id"])

    # -- workers

    def workers(
        self,
        state: Literal["fine", "falling", "alarm", "paused", "practice", "testing", "left"]
        | None = None,
    ) -> Iterator[WatchedWorker]:
        return self._to.pages(WatchedWorker, f"{self._path}/workers", {"state": state})

    def add(self, workers: Sequence[WatchedWorkerIn]) -> WatchState:
        body = {"workers": list(workers)}
        return self._to.ask(WatchState, "PUT", f"{self._path}/workers", json=body)

    def remove(self, worker: str) -> None:
        """Watch this worker no more; their answers stay."""
        path = f"{self._path}/workers/{quote(worker, safe='')}"
        self._to.send("DELETE", path, harmless=False)

    def pause(self, worker: str, reason: str = "") -> WatchedWorker:
        return self._move_worker(worker, "pause", reason)

    def resume_worker(self, worker: str, reason: str = "") -> WatchedWorker:
        return self._move_worker(worker, "resume", reason)

    def dismiss(self, worker: str, reason: str) -> WatchedWorker:
        """Dismiss an alarm with a reason: the worker begins anew."""
        return self._move_worker(worker, "dismiss", reason)

    def requalify(self, worker: str, reason: str = "") -> WatchedWorker:
        """Test a worker with an alarm or a pause again, by gold questions asked from now on.

        In a watch that ``with_practice`` the worker practises first: send them their ``link``.
        """
        return self._move_worker(worker, "requalify", reason)

    def replace_link(self, worker: str, reason: str = "") -> WatchedWorker:
        """Replace the personal link of a worker; the old one says so, and answers stay."""
        path = f"{self._path}/workers/{quote(worker, safe='')}/link"
        return self._to.ask(WatchedWorker, "POST", path, json={"reason": reason}, harmless=False)

    def replace_links(self, reason: str = "") -> GoldLinks:
        """Replace the personal links of all workers; ``workers`` has the new ones."""
        path = f"{self._path}/links"
        return self._to.ask(GoldLinks, "POST", path, json={"reason": reason}, harmless=False)

    # -- connections

    def connect(self, connection: int, **settings: str) -> WatchConnection:
        """Put gold among the tasks of a tool, and fetch the answers from there."""
        body = {"connection": connection, "settings": settings}
        self._to.ask_later(dict[str, Any], "POST", f"{self._path}/connections", json=body)
        return next(one for one in self.connections() if one["connection"] == connection)

    def connections(self) -> list[WatchConnection]:
        """List the connections that take gold of the watch, or did."""
        return self._to.ask(list[WatchConnection], "GET", f"{self._path}/connections")

    def disconnect(self, connection: int) -> None:
        """Put no more gold there: open gold tasks are removed."""
        self._to.send("DELETE", f"{self._path}/connections/{connection}")

    def _move_worker(self, worker: str, name: str, reason: str) -> WatchedWorker:
        path = f"{self._path}/workers/{quote(worker, safe='')}/transitions/{name}"
        return self._to.ask(WatchedWorker, "POST", path, json={"reason": reason}, harmless=False)

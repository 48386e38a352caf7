"""Uploaded files: inspect, name columns, take, undo."""

import time
from collections.abc import Iterator, Mapping
from typing import Literal

from .connection import ApiError, Connection
from .replies import FileRow, FileState

OnMismatch = Literal["refuse", "wrong", "correct"]


class File:
    """An uploaded file, by its id. Every method may raise ApiError."""

    def __init__(self, connection: Connection, number: str) -> None:
        self._to, self.id = connection, number
        self._path = f"files/{number}"

    def show(self) -> FileState:
        """Read its recognised layout, its progress, and the number of usable rows."""
        return self._to.ask(FileState, "GET", self._path)

    def name(
        self,
        columns: Mapping[str, str],
        encoding: str = "",
        has_header: bool = True,
        questions: Mapping[str, str] | None = None,
        header_line: int | None = None,
    ) -> FileState:
        """Set the meaning of its columns: a field, "attribute", or "" for none.

        questions  of a survey: columns, and the question that each has the answers to
        header_line  number of the header line
        """
        body = {"columns": dict(columns), "encoding": encoding, "has_header": has_header}
        body |= {"questions": dict(questions or {}), "header_line": header_line}
        return self._to.ask(FileState, "PATCH", self._path, json=body)

    def wait(self, every: float = 1, at_most: float | None = None) -> FileState:
        """Wait until it is read. Raises TimeoutError after ``at_most`` seconds."""
        deadline = None if at_most is None else time.monotonic() + at_most
        while (state := self.show())["state"] in ("waiting", "working"):
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"{state['name']} is not read in {at_most} s.")
            time.sleep(every)
        return state

    def rows(self, accepted: bool = True, on_mismatch: OnMismatch = "refuse") -> Iterator[FileRow]:
        """Yield the rows that will be taken, or the others with the reason."""
        query = {"accepted": accepted, "on_mismatch": on_mismatch, "limit": 1000}
        return self._to.pages(FileRow, f"{self._path}/rows", query)

    def take(self, on_mismatch: OnMismatch = "refuse", strict: bool = False) -> FileState:
        """Take its good rows once it is read; with ``strict`` all of its rows or none."""
        state = self.wait()
        if state["state"] == "failed":
            raise ApiError(409, state["error"])
        body = {"on_mismatch": on_mismatch, "strict": strict}
        return self._to.ask(FileState, "POST", f"{self._path}/take", json=body)

    def undo(self) -> None:
        """Restore the state from before it was taken."""
        self._to.send("POST", f"{self._path}/undo", harmless=False)

    def put_aside(self) -> None:
        """Delete it without taking it."""
        self._to.send("DELETE", self._path, harmless=False)

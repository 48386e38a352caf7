"""The file of a study: an SQLite database that one process at a time has open."""

import json
import sqlite3
from collections.abc import Iterable
from os import PathLike
from typing import Any, NamedTuple

from .names import StudyError

APPLICATION = 0x746F706B  # "topk", in the header of the file
TABLES = (
    f"PRAGMA application_id = {APPLICATION}",
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE dealt (candidate INTEGER PRIMARY KEY, items INTEGER NOT NULL)",
    "CREATE TABLE results (number INTEGER PRIMARY KEY, candidate INTEGER NOT NULL, item INTEGER "
    "NOT NULL, value REAL, reason TEXT NOT NULL, UNIQUE (candidate, item))",
    "CREATE TABLE given_up (candidate INTEGER PRIMARY KEY, reason TEXT NOT NULL)",
)
ENDED = "ended"


class Result(NamedTuple):
    """A told result: numbers of candidate and item, the value, or None and the reason."""

    candidate: int
    item: int
    value: float | None
    reason: str


class Storage:
    """Results, and how many items were dealt to each candidate; each write is committed.

    The file is locked until ``close``, or until the process ends in whatever way.
    """

    def __init__(self, path: str | PathLike[str] | None, settings: dict[str, Any]) -> None:
        self._name = "The study" if path is None else str(path)
        try:
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=0, isolation_level=None, check_same_thread=False
            )
            self._run("PRAGMA locking_mode = EXCLUSIVE")
            self._run("BEGIN EXCLUSIVE")
            self._prepare_tables(settings)
            self._run("COMMIT")  # and the lock stays
            self._run("PRAGMA journal_mode = WAL")  # one write to the disk for a commit
        except sqlite3.Error as error:
            if "locked" in str(error):
                raise StudyError(
                    f"{self._name} is in use by another process: one at a time may work on a study."
                ) from error
            raise StudyError(f"{self._name} cannot be opened as a study: {error}.") from error

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()

    def _prepare_tables(self, settings: dict[str, Any]) -> None:
        """Create the tables, or compare the settings. Raises StudyError."""
        if not self._run("SELECT * FROM sqlite_master"):
            for statement in TABLES:
                self._run(statement)
            for name, value in settings.items():
                self._run("INSERT INTO settings VALUES (?, ?)", name, json.dumps(value))
        elif self._run("PRAGMA application_id") != [(APPLICATION,)]:
            self.close()
            raise StudyError(f"{self._name} is a database of another program: use another path.")
        stored = {name: json.loads(value) for name, value in self._run("SELECT * FROM settings")}
        content = json.loads(json.dumps(settings))
        differences = [
            f"{name} {_describe_difference(stored.get(name), content[name])}"
            for name in content
            if stored.get(name) != content[name]
        ]
        if differences:
            self.close()
            raise StudyError(
                f"{self._name} belongs to another study: {'; '.join(differences)}. Use another "
                "path, or the settings of the file."
            )

    def read_results(self) -> list[tuple[int, Result]]:
        """Read all results with their numbers, in the order told."""
        rows = self._run("SELECT * FROM results ORDER BY number")
        return [(number, Result(*row)) for number, *row in rows]

    def read_dealt(self) -> dict[int, int]:
        """Count the items dealt to each candidate that was asked."""
        return dict(self._run("SELECT * FROM dealt"))

    def read_given_up(self) -> dict[int, str]:
        """Read the candidates that were given up, with the reasons."""
        return dict(self._run("SELECT * FROM given_up"))

    def read_end(self) -> int | None:
        """Read the number of the last result that counted; None if the study has not ended."""
        rows = self._run("SELECT value FROM settings WHERE name = ?", ENDED)
        return int(rows[0][0]) if rows else None

    def add_results(self, results: Iterable[Result]) -> None:
        self._write("INSERT OR IGNORE INTO results VALUES (NULL, ?, ?, ?, ?)", results)

    def store_dealt(self, dealt: Iterable[tuple[int, int]]) -> None:
        """Store without waiting for the disk: only a power cut can lose it, and costs nothing."""
        self._run("PRAGMA synchronous = NORMAL")
        self._write("REPLACE INTO dealt VALUES (?, ?)", dealt)
        self._run("PRAGMA synchronous = FULL")

    def store_given_up(self, candidate: int, reason: str) -> None:
        self._write("REPLACE INTO given_up VALUES (?, ?)", [(candidate, reason)])

    def forget_given_up(self, candidate: int) -> None:
        self._write("DELETE FROM given_up WHERE candidate = ?", [(candidate,)])

    def store_end(self) -> None:
        """Store that results told from now on do not count."""
        last = "SELECT ?, coalesce(max(number), 0) FROM results"
        self._write(f"INSERT OR IGNORE INTO settings {last}", [(ENDED,)])

    def forget_absences(self, quiet: Iterable[str]) -> None:
        """Delete results without a value, except those of these reasons."""
        reasons = ", ".join(f"'{reason}'" for reason in quiet)
        condition = f"value IS NULL AND reason NOT IN ({reasons})"  # words of ours
        self._write(f"DELETE FROM results WHERE {condition}", [()])  # noqa: S608

    def _write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Execute and commit; a failure, such as a full disk, leaves the file as it was."""
        try:
            with self._connection:
                self._connection.execute("BEGIN")
                self._connection.executemany(statement, rows)
        except sqlite3.Error as error:
            raise StudyError(
                f"{self._name} could not be written: {error}. What was told before is kept."
            ) from error

    def close(self) -> None:
        self._connection.close()


def _describe_difference(stored: Any, given: Any) -> str:
    """Describe how two settings differ; of lists of one length, the first difference."""
    if isinstance(stored, list) and isinstance(given, list):
        if len(stored) != len(given):
            return f"are {len(stored)} there and {len(given)} here"
        place = next(i for i in range(len(given)) if stored[i] != given[i])
        return f"differ: number {place + 1} is {stored[place]!r} there, {given[place]!r} here"
    return f"is {stored!r} there and {given!r} here"

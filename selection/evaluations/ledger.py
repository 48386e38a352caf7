"""The ledger of the evaluations in a folder: each run, and each call before it is sent."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from selection.errors import NotFound, Refused

FILE = "evaluations.db"
LOST = "The program ended before the reply came. The call may have been charged."
TABLES = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # only a power cut can lose the last calls
    """CREATE TABLE IF NOT EXISTS runs (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL, models TEXT NOT NULL, gold TEXT NOT NULL,
        options TEXT NOT NULL, document TEXT NOT NULL, prices TEXT NOT NULL, seed INTEGER NOT NULL,
        spend_limit INTEGER, ending TEXT NOT NULL DEFAULT '', parsing TEXT NOT NULL DEFAULT '',
        pattern TEXT NOT NULL DEFAULT '', counted_wrong TEXT NOT NULL DEFAULT '[]')""",
    """CREATE TABLE IF NOT EXISTS calls (
        number INTEGER PRIMARY KEY, run INTEGER REFERENCES runs, model TEXT NOT NULL,
        question TEXT NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'sent',
        reserved INTEGER NOT NULL DEFAULT 0, cost INTEGER NOT NULL DEFAULT 0, tokens_in INTEGER,
        tokens_out INTEGER, milliseconds INTEGER, reply TEXT NOT NULL DEFAULT '',
        answer TEXT NOT NULL DEFAULT '', result TEXT NOT NULL DEFAULT '',
        problem TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX IF NOT EXISTS call_of_run ON calls (run, model, question)",
    "CREATE INDEX IF NOT EXISTS call_to_reuse ON calls (digest)",
)
REPLIED = "state IN ('replied', 'reused')"
Row = sqlite3.Row


class Ledger:
    """Runs and calls. A call that is sent counts with the most that it can cost until it ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(folder / FILE, timeout=30, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        for statement in TABLES:
            self.execute(statement)

    def execute(self, statement: str, *values: Any) -> list[Row]:
        plain = [json.dumps(value) if isinstance(value, dict | list) else value for value in values]
        try:
            return self._connection.execute(statement, plain).fetchall()
        except sqlite3.Error as error:
            raise Refused(f"{self.folder / FILE} cannot be used: {error}.") from error

    # -- runs

    def find_run(self, models: Path, gold: Path) -> Row | None:
        """Find the last run of these files."""
        statement = "SELECT * FROM runs WHERE models = ? AND gold = ? ORDER BY number DESC LIMIT 1"
        rows = self.execute(statement, str(models), str(gold))
        return rows[0] if rows else None

    def find_named(self, name: str) -> Row:
        """Find a run by its name, or else by its number. Raises NotFound."""
        rows = self.execute(
            "SELECT * FROM runs WHERE name = ?1 OR CAST(number AS TEXT) = ?1 "
            "ORDER BY name = ?1 DESC, number DESC",
            name,
        )
        if not rows:
            raise NotFound(f"There is no evaluation “{name}” in {self.folder}.")
        return rows[0]

    # -- calls

    def close_lost(self, run: int) -> None:
        """Close the calls of a process that was killed; each costs what was reserved for it."""
        self.execute(
            "UPDATE calls SET state = 'interrupted', cost = reserved, problem = ? "
            "WHERE run = ? AND state = 'sent'",
            LOST,
            run,
        )

    def find_reply(self, run: int | None, model: str, question: str, digest: str) -> Row | None:
        """Find the last reply to this pair; with a digest that of any equal request."""
        own = "run = ? AND model = ? AND question = ?"
        equal = "digest = ? AND answer != ''"
        rows = self.execute(
            f"SELECT * FROM calls WHERE {REPLIED} AND (({own}) OR ({equal})) "  # noqa: S608  # nosec B608
            "ORDER BY run IS ? DESC, number DESC LIMIT 1",
            *(run, model, question, digest, run),
        )
        return rows[0] if rows else None

    def list_replies(self, run: int, model: str = "") -> list[Row]:
        which = "run = ?" + " AND model = ?" * bool(model)
        return self.execute(
            f"SELECT * FROM calls WHERE {REPLIED} AND {which} ORDER BY number",  # noqa: S608  # nosec B608
            *([run, model] if model else [run]),
        )

    def sum_calls(self, run: int) -> dict[str, tuple[int, int]]:
        """Sum the calls made and their cost by model; those in flight at the most they can cost."""
        cost = "CASE state WHEN 'sent' THEN reserved ELSE cost END"
        rows = self.execute(
            f"SELECT model, sum(state != 'reused') AS made, sum({cost}) AS cost FROM calls "  # noqa: S608  # nosec B608
            "WHERE run = ? GROUP BY model",
            run,
        )
        return {row["model"]: (row["made"], row["cost"]) for row in rows}

    # -- rows

    def insert(self, table: str, **columns: Any) -> int:
        names, places = ", ".join(columns), ", ".join("?" * len(columns))
        statement = f"INSERT INTO {table} ({names}) VALUES ({places}) RETURNING number"  # noqa: S608  # nosec B608
        return int(self.execute(statement, *columns.values())[0]["number"])

    def update(self, table: str, number: int, **columns: Any) -> None:
        names = ", ".join(f"{name} = ?" for name in columns)
        statement = f"UPDATE {table} SET {names} WHERE number = ?"  # noqa: S608  # nosec B608
        self.execute(statement, *columns.values(), number)

"""Connections to annotation tools and marketplaces, and a run's use of Prolific."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Unpack

from .connection import Connection
from .replies import (
    BonusBatch,
    PlannedCall,
    ProlificState,
    ReadCount,
    Source,
    ToolCall,
    ToolConnection,
    ToolConnectionChanges,
    ToolConnectionIn,
)

PAGE = 1000


class Connections:
    """The team's connections. They need the scope to manage; every method may raise ApiError."""

    def __init__(self, connection: Connection) -> None:
        self._to = connection

    def create(self, **account: Unpack[ToolConnectionIn]) -> ToolConnection:
        """Create a connection after a check of its account; its secrets are never returned."""
        saved = self._to.ask_later(dict[str, Any], "POST", "connections", json=account)
        return self.show(saved["connection"])

    def all(self) -> list[ToolConnection]:
        return self._to.ask(list[ToolConnection], "GET", "connections")

    def show(self, number: int) -> ToolConnection:
        return self._to.ask(ToolConnection, "GET", f"connections/{number}")

    def change(self, number: int, **changes: Unpack[ToolConnectionChanges]) -> ToolConnection:
        """Change a connection, or pause it with ``paused=True``; omitted fields stay."""
        path = f"connections/{number}"
        if set(changes) <= {"paused"}:  # nothing to check
            return self._to.ask(ToolConnection, "PATCH", path, json=changes)
        self._to.ask_later(dict[str, Any], "PATCH", path, json=changes)
        return self.show(number)

    def delete(self, number: int) -> None:
        """Delete a connection that no run uses."""
        self._to.send("DELETE", f"connections/{number}", harmless=False)

    def sources(self, number: int) -> list[Source]:
        """List the places to read from, for example projects."""
        return self._to.ask_later(list[Source], "GET", f"connections/{number}/sources")

    def calls(self, number: int) -> Iterator[ToolCall]:
        """Yield what was sent and what waits, latest first."""
        query, path = {"limit": PAGE}, f"connections/{number}/calls"
        while rows := self._to.ask(list[ToolCall], "GET", path, params=query):
            yield from rows
            query["before_id"] = rows[-1]["id"]

    def repeat_call(self, call: int) -> ToolCall:
        return self._to.ask(ToolCall, "POST", f"connector-calls/{call}/repeat", harmless=False)

    def read_questions(self, question_set: int, connection: int, source: str = "") -> int:
        """Store the gold questions of a source; return their number."""
        return self._read(f"question-sets/{question_set}/read", connection, source)

    def read_workers(self, pool: int, connection: int, source: str = "") -> int:
        """Store the people of the account as workers; return their number."""
        return self._read(f"pools/{pool}/read", connection, source)

    def _read(self, path: str, connection: int, source: str) -> int:
        body = {"connection": connection, "source": source}
        return self._to.ask_later(ReadCount, "POST", path, json=body)["stored"]


class Prolific:
    """A run's use of Prolific: ``run.prolific``. Connect the run first."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._to, self._path = connection, f"{path}/prolific"

    def show(self) -> ProlificState:
        """Read the study, the groups, the submissions by state, and the batches of bonuses."""
        return self._to.ask(ProlificState, "GET", self._path)

    def dry_run(self) -> list[PlannedCall]:
        """List every call that would be made now; only those that read are made."""
        return self._to.ask_later(list[PlannedCall], "GET", f"{self._path}/dry-run")

    def create_study(self) -> ToolCall:
        """Create a draft study; look at it and publish it on Prolific. It is never made twice."""
        return self._to.ask(ToolCall, "POST", f"{self._path}/study", harmless=False)

    def subscribe(self) -> ToolCall:
        """Let Prolific send messages about submissions."""
        return self._to.ask(ToolCall, "POST", f"{self._path}/messages")

    def propose_bonuses(self) -> BonusBatch:
        """Propose the bonuses that are due, at most 200 at once."""
        return self._to.ask(BonusBatch, "GET", f"{self._path}/bonuses")

    def confirm_bonuses(self, total: float | str | Decimal) -> BonusBatch:
        """Pay the bonuses that are due, if their amount is still this total."""
        path, body = f"{self._path}/bonuses", {"total": str(total)}
        return self._to.ask(BonusBatch, "POST", path, harmless=False, json=body)

    def settle_bonuses(self, batch: str, paid: bool) -> None:
        """Say whether an uncertain batch was paid on Prolific; unpaid bonuses are due again."""
        path, body = f"{self._path}/bonuses/{batch}", {"paid": paid}
        self._to.send("POST", path, harmless=False, json=body)

"""Calls of Prolific's API for a run, and the notes about what they made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from selection.connectors import http
from selection.connectors.faults import Denied, Rejected
from selection.connectors.secret_store import require_token
from selection.http import safe_http
from selection.models import Connection, RunConnection

PAGE = 100
MOST_PAGES = 1000
NEW = "(new)"  # the id of what a dry run does not create


@dataclass(frozen=True)
class PlannedCall:
    """A call that a dry run lists."""

    method: str
    path: str
    body: Any = None


class Session:
    """The API of one account, for one run.

    planned  None, or the list of a dry run: then no call changes anything, here or there
    """

    def __init__(self, link: RunConnection, planned: list[PlannedCall] | None = None) -> None:
        self.link, self.planned = link, planned

    @property
    def memory(self) -> dict[str, Any]:
        memory: dict[str, Any] = self.link.memory
        return memory

    def note(self, **values: Any) -> None:
        """Add to the notes of the run's connection; a dry run forgets them."""
        if self.planned is None:
            add_notes(self.link, **values)
        else:
            self.link.memory = {**self.link.memory, **values}

    def get(self, path: str, **query: Any) -> Any:
        if self.planned is not None:
            self.planned.append(PlannedCall("GET", path))
            if NEW in path:
                return {"results": []}
        return call(self.link.connection, "GET", path, query=query)

    def list(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield the results of all pages."""
        offset = 0
        for _ in range(MOST_PAGES):
            page = self.get(path, **query, limit=PAGE, offset=offset)
            yield from page["results"]
            following = page.get("_links", {}).get("next", {}).get("href")
            if not following or not page["results"]:
                return
            offset += len(page["results"])
        raise Rejected(f"Prolific’s list /{path} has more than {offset:,} entries.")

    def write(self, method: str, path: str, body: Any = None) -> Any:
        """Make a call that changes something; a dry run lists it instead."""
        if self.planned is not None:
            self.planned.append(PlannedCall(method, path, body))
            return {"id": NEW}
        return call(self.link.connection, method, path, body)

    def write_with_headers(
        self, method: str, path: str, body: Any
    ) -> tuple[Any, Mapping[str, str]]:
        """Make a call that changes something; return its reply with the headers."""
        reply = send(self.link.connection, method, path, body)
        return http.parse_reply(reply), reply.headers


def call(
    connection: Connection,
    method: str,
    path: str,
    body: Any = None,
    query: dict[str, Any] | None = None,
) -> Any:
    return http.parse_reply(send(connection, method, path, body, query))


def send(
    connection: Connection,
    method: str,
    path: str,
    body: Any = None,
    query: dict[str, Any] | None = None,
) -> safe_http.Reply:
    headers = {"Authorization": f"Token {require_token(connection)}"}
    try:
        return http.send(method, f"{connection.address}/{path}", headers, body, query)
    except Denied as fault:
        if fault.code not in (401, 403):
            raise
        sentence = "Prolific refuses the API token: enter a valid one."
        raise Denied(sentence, fault.code) from fault


@transaction.atomic
def add_notes(link: RunConnection, **values: Any) -> None:
    """Add to the stored notes, which pages and calls change at the same time."""
    stored = RunConnection.objects.select_for_update().get(pk=link.pk)
    stored.memory = {**stored.memory, **values}
    stored.save(update_fields=["memory"])
    link.memory = stored.memory

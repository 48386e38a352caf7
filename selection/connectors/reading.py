"""What is read from the other side: gold questions, workers, past answers."""

from collections.abc import Callable
from typing import Any, TypeVar

from selection.errors import Conflict, Refused
from selection.grading.question_kinds import find_question_faults
from selection.imports import catalog
from selection.models import Connection, Pool, QuestionSet

from . import registry
from .connector import Fetched, Source
from .faults import Fault
from .secret_store import hide_secrets

T = TypeVar("T")


def list_sources(connection: Connection) -> list[Source]:
    """Return the places to read from. Raises Refused with the reason if they cannot be listed."""
    return call_now(connection, lambda: registry.connector_of(connection).list_sources(connection))


def import_gold(question_set: QuestionSet, connection: Connection, source: str) -> int:
    """Store the gold questions of a place; return their number.

    Raises Refused for a wrong question, Conflict for one that has been asked already.
    """
    _refuse_team(question_set, connection)
    connector = registry.connector_of(connection)
    rows = call_now(connection, lambda: connector.read_gold(connection, source))
    asked = catalog.question_keys_asked(question_set)
    for row in rows:
        if row.question in asked:
            raise Conflict(catalog.refuse_asked(row.question))
        if faults := find_question_faults(row.accepted, row.choices, row.grading):
            raise Refused(f"Question “{row.question}”: {faults[0]}")
    return catalog.take_questions(question_set, rows)


def import_workers(pool: Pool, connection: Connection, source: str = "") -> int:
    """Store the people of an account or a place; return their number."""
    _refuse_team(pool, connection)
    connector = registry.connector_of(connection)
    rows = call_now(connection, lambda: connector.read_workers(connection, source))
    if not rows:
        raise Refused(f"“{connection}” has nobody yet: invite people there first.")
    return catalog.take_workers(pool, rows)


def fetch_past(connection: Connection, source: str) -> Fetched:
    """Return the past answers of a place, as a file."""
    connector = registry.connector_of(connection)
    return call_now(connection, lambda: connector.read_past(connection, source))


def call_now(connection: Connection, call: Callable[[], T]) -> T:
    """Return the call's result. Raises Refused instead of a fault, for a person that waits."""
    if connection.paused:
        raise Conflict(f"The connection “{connection}” is paused: resume it first.")
    try:
        return call()
    except Fault as fault:
        raise Refused(hide_secrets(connection, str(fault))) from None


def _refuse_team(target: Any, connection: Connection) -> None:
    if target.team_id != connection.team_id:
        raise Refused("The connection is another team's.")

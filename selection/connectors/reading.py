"""What is read from the other side: gold questions, workers, past answers."""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any, TypeVar

from django.db import transaction

from selection.errors import Conflict, Refused
from selection.grading.question_kinds import find_question_faults
from selection.imports import catalog
from selection.imports.row_parsers import QuestionRow, WorkerRow
from selection.models import Connection, Pool, QuestionSet
from selection.outbox import leases
from selection.runs.settings import drafts

from . import registry
from .connector import Fetched, Source
from .faults import Fault
from .secret_store import hide_secrets

logger = logging.getLogger(__name__)
T = TypeVar("T")
LONGEST_SECONDS = 300.0  # of all calls that somebody waits for


def list_sources(connection: Connection) -> list[Source]:
    """List the places to read from. Raises Refused with the reason if they cannot be listed."""
    return call_now(connection, lambda: registry.connector_of(connection).list_sources(connection))


def import_gold(question_set: QuestionSet, connection: Connection, source: str) -> int:
    """Store the gold questions of a place; return their number.

    Raises Refused for a wrong question, Conflict for one that has been asked already.
    """
    _refuse_team(question_set, connection)
    return _store_gold(question_set, _read_gold(connection, source))


def create_question_set(connection: Connection, name: str, source: str) -> QuestionSet:
    """Create a new question set with the gold questions of a place. Raises Refused."""
    rows = _read_gold(connection, source)  # first: no transaction waits for another server
    team = connection.team_id
    with transaction.atomic():
        free = drafts.free_name(name.strip() or str(connection), team, QuestionSet, " {}")
        question_set = QuestionSet.objects.create(team_id=team, name=free)
        _store_gold(question_set, rows)
    return question_set


def _read_gold(connection: Connection, source: str) -> list[QuestionRow]:
    connector = registry.connector_of(connection)
    rows = call_now(connection, lambda: connector.read_gold(connection, source))
    for row in rows:
        if faults := find_question_faults(row.accepted, row.choices, row.grading):
            raise Refused(f"Question “{row.question}”: {faults[0]}")
    return rows


def _store_gold(question_set: QuestionSet, rows: list[QuestionRow]) -> int:
    fixed_keys = catalog.question_keys_asked(question_set)
    for row in rows:
        if row.question in fixed_keys:
            raise Conflict(catalog.refuse_asked(row.question))
    return catalog.take_questions(question_set, rows)


def import_workers(pool: Pool, connection: Connection, source: str = "") -> int:
    """Store the people of an account or a place; return their number."""
    _refuse_team(pool, connection)
    return catalog.take_workers(pool, _read_workers(connection, source))


def create_pool(connection: Connection) -> Pool:
    """Create a new pool with the people of the account. Raises Refused."""
    rows = _read_workers(connection, "")
    with transaction.atomic():
        free = drafts.free_name(f"People of {connection}", connection.team_id, Pool, " {}")
        pool = Pool.objects.create(team_id=connection.team_id, name=free)
        catalog.take_workers(pool, rows)
    return pool


def _read_workers(connection: Connection, source: str) -> list[WorkerRow]:
    connector = registry.connector_of(connection)
    rows = call_now(connection, lambda: connector.read_workers(connection, source))
    if not rows:
        raise Refused(f"“{connection}” has nobody yet: invite people there first.")
    return rows


def fetch_past(connection: Connection, source: str) -> Fetched:
    connector = registry.connector_of(connection)
    return call_now(connection, lambda: connector.read_past(connection, source))


def call_now(connection: Connection, call: Callable[[], T]) -> T:
    """Make the call. Raises Refused instead of a fault, for a person that waits."""
    refuse_paused(connection)
    end = monotonic() + LONGEST_SECONDS
    try:
        with leases.renewing(lambda: monotonic() < end):
            return call()
    except leases.LeaseLost:
        raise Refused(f"The replies took longer than {LONGEST_SECONDS:g} seconds.") from None
    except Fault as fault:
        raise Refused(hide_secrets(connection, str(fault))) from None
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
        logger.exception("A reply to the connection %s cannot be read.", connection.pk)
        label = registry.connector_of(connection).label
        raise Refused(f"The reply is not {label}’s: check the address.") from None


def refuse_paused(connection: Connection) -> None:
    """Raise Conflict for a paused connection, which makes no calls."""
    if connection.paused:
        raise Conflict(f"The connection “{connection}” is paused: resume it first.")


def _refuse_team(target: Any, connection: Connection) -> None:
    if target.team_id != connection.team_id:
        raise Refused("The connection is another team's.")

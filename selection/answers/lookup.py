"""Lookup of assignments for recording, in one statement that Django builds once.

It reads columns, not models: building the query and the objects took longer than the database.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from django.db.models.functions import Now

from selection import db_clock
from selection.db.prepared_statements import execute_prepared
from selection.models import Assignment

COLUMNS = (
    "id",
    "candidate_id",
    "candidate__run_id",
    "candidate__run__team_id",
    "candidate__run__status",
    "due",
    "question__accepted",
    "question__choices",
    "question__grading",
    "at",
)
ANSWER_COLUMNS = ("answer__expired", "answer__response")
NO_ANSWER = (None, None)
MOST_IDS = 1024  # ids in one statement; some databases take no more than a few thousand


class AssignmentLookup(NamedTuple):
    """An assignment with its run and its question, and the arrival time of the present request.

    The time is by the database's clock. ``expired`` and ``response`` are None while the assignment
    is open, or if they were not read.
    """

    assignment_id: int
    candidate_id: int
    run_id: int
    team_id: int
    status: str
    due: datetime | None
    accepted: list[str]
    choices: list[str]
    grading: dict[str, Any]
    at: datetime
    expired: bool | None
    response: str | None


def read_slip(assignment_id: int) -> AssignmentLookup | None:
    """Read the assignment without its answer, which few have: one table less saves a third."""
    slips = _read_slips([assignment_id], COLUMNS)
    return slips[0] if slips else None


def read_slips(assignments: Sequence[int]) -> dict[int, AssignmentLookup]:
    ids = list(dict.fromkeys(assignments))
    parts = (ids[start : start + MOST_IDS] for start in range(0, len(ids), MOST_IDS))
    return {
        slip.assignment_id: slip
        for part in parts
        for slip in _read_slips(part, COLUMNS + ANSWER_COLUMNS)
    }


def _read_slips(assignments: list[int], columns: tuple[str, ...]) -> list[AssignmentLookup]:
    # One prepared statement each for 1, 2, 4, ... ids.
    filled = 1 << (len(assignments) - 1).bit_length()
    ids = assignments + assignments[-1:] * (filled - len(assignments))
    with execute_prepared(_build_sql(columns, filled), ids) as cursor:
        rows = cursor.fetchall()
    return [_parse_row(*row) for row in rows]


def _parse_row(*row: Any) -> AssignmentLookup:
    due, gold, at = _parse_moment(row[5]), map(json.loads, row[6:9]), _arrival_time(row[9])
    return AssignmentLookup._make([*row[:5], due, *gold, at, *(row[10:] or NO_ANSWER)])


@cache
def _build_sql(columns: tuple[str, ...], many: int) -> str:
    rows = Assignment.objects.filter(pk__in=range(many)).order_by().annotate(at=Now())
    return rows.values_list(*columns).query.sql_with_params()[0]


def _arrival_time(read: datetime | str) -> datetime | None:
    """Derive the arrival time of the present request from the time of the read.

    Both are by the database's clock.
    """
    at = _parse_moment(read)
    return at and at - db_clock.waited()


def _parse_moment(stored: datetime | str | None) -> datetime | None:
    """Complete the moment by its zone: SQLite omits it (UTC), and gives computed ones as text."""
    if isinstance(stored, str):
        stored = datetime.fromisoformat(stored)
    return stored if stored is None or stored.tzinfo else stored.replace(tzinfo=UTC)

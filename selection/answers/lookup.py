"""What recording needs to know of an assignment, read in one statement that Django builds once.

Columns, not models: building the query and the objects took more time than the database did.
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
ANSWERED = ("answer__expired", "answer__response")
UNASKED = (None, None)
MANY = 1024  # ids in one statement; some databases take no more than a few thousand


class AssignmentLookup(NamedTuple):
    """An assignment, its run and its question, and when the request that is about it arrived, by
    the database's clock; expired and response are None while it is open, or where that was not
    asked."""

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
    """Without its answer: one table less takes a third less time, and few have one."""
    found = _read_slips([assignment_id], COLUMNS)
    return found[0] if found else None


def read_slips(assignments: Sequence[int]) -> dict[int, AssignmentLookup]:
    """By assignment, of those that there are, with their answers."""
    wanted = list(dict.fromkeys(assignments))
    parts = (wanted[start : start + MANY] for start in range(0, len(wanted), MANY))
    return {
        one.assignment_id: one for part in parts for one in _read_slips(part, COLUMNS + ANSWERED)
    }


def _read_slips(assignments: list[int], columns: tuple[str, ...]) -> list[AssignmentLookup]:
    filled = 1 << (len(assignments) - 1).bit_length()  # a statement each for 1, 2, 4, ... ids
    ids = assignments + assignments[-1:] * (filled - len(assignments))
    with execute_prepared(_build_sql(columns, filled), ids) as cursor:
        rows = cursor.fetchall()
    return [_parse_row(*row) for row in rows]


def _parse_row(*row: Any) -> AssignmentLookup:
    return AssignmentLookup._make(
        [
            *row[:5],
            _parse_moment(row[5]),
            *map(json.loads, row[6:9]),
            _arrival_time(row[9]),
            *(row[10:] or UNASKED),
        ]
    )


@cache
def _build_sql(columns: tuple[str, ...], many: int) -> str:
    rows = Assignment.objects.filter(pk__in=range(many)).order_by().annotate(at=Now())
    return rows.values_list(*columns).query.sql_with_params()[0]


def _arrival_time(read: datetime | str) -> datetime | None:
    """Return when the present request arrived, of when it read: both by the database's clock."""
    at = _parse_moment(read)
    return at and at - db_clock.waited()


def _parse_moment(stored: datetime | str | None) -> datetime | None:
    """SQLite gives moments without their zone, which is UTC, and as text what it worked out."""
    if isinstance(stored, str):
        stored = datetime.fromisoformat(stored)
    return stored if stored is None or stored.tzinfo else stored.replace(tzinfo=UTC)

"""Responses to many assignments at once, each with a result of its own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from selection import wake
from selection.errors import NotFound, Refused
from selection.models import Answer
from selection.models.grading import matches

from . import bulk
from .answers import NONE, SLIP, SLIPS, Receipt, Slip, again, refuse_now

Result = Receipt | Refused


def record_batch(responses: Sequence[tuple[int, str]], team_id: int) -> list[Result]:
    """Record these (assignment, response) of a team's runs; for each what ``record`` returns or
    raises. Of several responses to one assignment the first counts.

    Nothing is locked but the new rows: two batches never wait for each other, because all insert in
    order of assignment.
    """
    now = timezone.now()
    with transaction.atomic():
        slips = _slips([assignment for assignment, _ in responses], team_id)
        refusals = [_refusal(slips, *each, now) for each in responses]
        open_ones = {
            assignment: response
            for (assignment, response), refusal in reversed(
                list(zip(responses, refusals, strict=True))
            )
            if refusal is None and slips[assignment].expired is None
        }
        _insert(slips, open_ones, now)
        closed = _closed([assignment for assignment, _ in responses])
    for run in sorted({slips[assignment].run_id for assignment in open_ones}):
        wake.request(run)
    new = dict(open_ones)
    return [
        refusal or _said(*each, closed, new)
        for each, refusal in zip(responses, refusals, strict=True)
    ]


def _slips(assignments: Sequence[int], team_id: int) -> dict[int, Slip]:
    rows = SLIPS.filter(pk__in=assignments, candidate__run__team_id=team_id)
    return {row[0]: Slip(*row[1:]) for row in rows.values_list("pk", *SLIP)}


def _refusal(
    slips: dict[int, Slip], assignment: int, response: str, now: datetime
) -> Refused | None:
    slip = slips.get(assignment)
    if slip is None:
        return NotFound(NONE)
    try:
        if slip.expired is None:
            refuse_now(slip, response, now)
    except Refused as refusal:
        return refusal
    return None


def _insert(slips: dict[int, Slip], responses: dict[int, str], now: datetime) -> None:
    ids = sorted(responses)
    own = [slips[pk] for pk in ids]
    graded = zip(ids, own, strict=True)
    columns: dict[str, Sequence[Any]] = {
        "assignment_id": ids,
        "run_id": [slip.run_id for slip in own],
        "response": [responses[pk] for pk in ids],
        "right": [matches(slip.accepted, responses[pk], slip.grading) for pk, slip in graded],
    }
    same = {"void": False, "expired": False, "at": now, "applied_in": None}
    bulk.insert(Answer, columns, same, ignore_conflicts=True)


def _closed(assignments: Sequence[int]) -> dict[int, tuple[bool, str]]:
    rows = Answer.objects.filter(pk__in=assignments).order_by()
    return {pk: (late, said) for pk, late, said in rows.values_list("pk", "expired", "response")}


def _said(
    assignment: int, response: str, closed: dict[int, tuple[bool, str]], new: dict[int, str]
) -> Result:
    """Of what was not refused: taken, taken before, or another response was first."""
    try:
        again(assignment, response, *closed[assignment])
    except Refused as refusal:
        return refusal
    return Receipt(assignment, duplicate=new.pop(assignment, None) is None)

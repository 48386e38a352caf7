"""Responses to many assignments at once, each with a result of its own."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from selection import wakeups
from selection.errors import NotFound, Refused, Withdrawn
from selection.models import Answer

from . import uncounted
from .lookup import AssignmentLookup, read_slips
from .recording import (
    NOT_FOUND,
    Receipt,
    insert_answers,
    no_assignment,
    receipt_for_repeat,
    refusal_of,
)

Result = Receipt | Refused


def record_batch(responses: Sequence[tuple[int, str]], team_id: int) -> list[Result]:
    """Record these (assignment, response) of a team's runs; return a receipt or refusal for each.

    They are those of ``record_answer``, by the API. Of several responses to one assignment the
    first counts.

    Nothing is locked except the new rows: two batches never deadlock, because all insert in order
    of assignment.
    """
    slips = read_slips([assignment for assignment, _ in responses])
    allowed = {pk: slip for pk, slip in slips.items() if slip.team_id == team_id}
    unknown = [assignment for assignment, _ in responses if assignment not in slips]
    withdrawn = uncounted.list_withdrawn(unknown, team_id=team_id) if unknown else set()
    refusals = [_refusal_of(allowed, withdrawn, *pair) for pair in responses]
    new: dict[int, str] = {}
    for (assignment, response), refusal in zip(responses, refusals, strict=True):
        if refusal is None and allowed[assignment].expired is None:
            new.setdefault(assignment, response)
    closed = _closed_assignments(allowed, new, insert_answers(allowed, new))
    for run in sorted({allowed[assignment].run_id for assignment in new}):
        wakeups.request_step(run)
    results = [
        refusal or _result_of(*pair, closed, new)
        for pair, refusal in zip(responses, refusals, strict=True)
    ]
    _note_uncounted(responses, results)
    return results


def _note_uncounted(responses: Sequence[tuple[int, str]], results: Sequence[Result]) -> None:
    numbers: dict[uncounted.Reason, set[int]] = defaultdict(set)
    for (assignment, _), result in zip(responses, results, strict=True):
        if isinstance(result, Refused):
            reason = uncounted.reason_of(result)
        else:
            reason = None if result.kept else uncounted.Reason.RETIRED
        if reason is not None:
            numbers[reason].add(assignment)
    for reason, assignments in numbers.items():
        uncounted.note_answers(reason, uncounted.API, assignments)


def _refusal_of(
    slips: Mapping[int, AssignmentLookup], withdrawn: set[int], assignment: int, response: str
) -> Refused | None:
    slip = slips.get(assignment)
    if assignment in withdrawn:
        return Withdrawn(uncounted.WITHDRAWN)
    if slip is None:
        return NotFound(NOT_FOUND)
    return None if slip.expired is not None else refusal_of(slip, response)


def _closed_assignments(
    slips: Mapping[int, AssignmentLookup], new: Mapping[int, str], stored: int
) -> dict[int, tuple[bool, str | None]]:
    """Look up the closed assignments, again only if a concurrent answer came first."""
    answered = {pk: slip for pk, slip in slips.items() if slip.expired is not None}
    if stored == len(new):
        closed = {pk: (bool(slip.expired), slip.response) for pk, slip in answered.items()}
        return closed | {pk: (False, response) for pk, response in new.items()}
    rows = Answer.objects.filter(pk__in=[*answered, *new]).order_by()
    return {
        pk: (late, response) for pk, late, response in rows.values_list("pk", "expired", "response")
    }


def _result_of(
    assignment: int,
    response: str,
    closed: Mapping[int, tuple[bool, str | None]],
    new: dict[int, str],
) -> Result:
    if assignment not in closed:
        return no_assignment(assignment)
    try:
        receipt = receipt_for_repeat(assignment, response, *closed[assignment])
    except Refused as refusal:
        return refusal
    return Receipt(assignment, new.pop(assignment, None) is None, receipt.kept)

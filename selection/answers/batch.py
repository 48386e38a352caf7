"""Responses to many assignments at once, each with a result of its own."""

from collections.abc import Mapping, Sequence

from selection import wakeups
from selection.errors import NotFound, Refused
from selection.models import Answer

from .lookup import AssignmentLookup, read_slips
from .recording import NONE, Receipt, insert_answers, receipt_for_repeat, refusal_of

Result = Receipt | Refused


def record_batch(responses: Sequence[tuple[int, str]], team_id: int) -> list[Result]:
    """Record these (assignment, response) of a team's runs; for each what ``record`` returns or
    raises. Of several responses to one assignment the first counts.

    Nothing is locked but the new rows: two batches never wait for each other, because all insert in
    order of assignment.
    """
    found = read_slips([assignment for assignment, _ in responses])
    own = {pk: slip for pk, slip in found.items() if slip.team_id == team_id}
    refusals = [_refusal_of(own, *each) for each in responses]
    new: dict[int, str] = {}
    for (assignment, response), refusal in zip(responses, refusals, strict=True):
        if refusal is None and own[assignment].expired is None:
            new.setdefault(assignment, response)
    closed = _closed_assignments(own, new, insert_answers(own, new))
    for run in sorted({own[assignment].run_id for assignment in new}):
        wakeups.request_step(run)
    return [
        refusal or _result_of(*each, closed, new)
        for each, refusal in zip(responses, refusals, strict=True)
    ]


def _refusal_of(
    slips: Mapping[int, AssignmentLookup], assignment: int, response: str
) -> Refused | None:
    slip = slips.get(assignment)
    if slip is None:
        return NotFound(NONE)
    return None if slip.expired is not None else refusal_of(slip, response)


def _closed_assignments(
    slips: Mapping[int, AssignmentLookup], new: Mapping[int, str], stored: int
) -> dict[int, tuple[bool, str | None]]:
    """Those that are closed now; asked again only where somebody else was quicker with one."""
    before = {pk: slip for pk, slip in slips.items() if slip.expired is not None}
    if stored == len(new):
        found = {pk: (bool(slip.expired), slip.response) for pk, slip in before.items()}
        return found | {pk: (False, response) for pk, response in new.items()}
    rows = Answer.objects.filter(pk__in=[*before, *new]).order_by()
    return {pk: (late, said) for pk, late, said in rows.values_list("pk", "expired", "response")}


def _result_of(
    assignment: int,
    response: str,
    closed: Mapping[int, tuple[bool, str | None]],
    new: dict[int, str],
) -> Result:
    """Of what was not refused: taken, taken before, or another response was first."""
    if assignment not in closed:
        return NotFound(NONE)  # it was taken back in this moment
    try:
        receipt = receipt_for_repeat(assignment, response, *closed[assignment])
    except Refused as refusal:
        return refusal
    return Receipt(assignment, new.pop(assignment, None) is None, receipt.kept)

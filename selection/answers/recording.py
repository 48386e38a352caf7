"""Recording of answers: one by one, in bulk, or as expired."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db import IntegrityError

from selection import db_clock, wakeups
from selection.db import bulk
from selection.errors import (
    Answered,
    Conflict,
    NotFound,
    OutsideChoices,
    Refused,
    TooLate,
    Withdrawn,
)
from selection.grading.rules import (
    combines_none,
    is_match,
    is_possible_answer,
    kind_of,
    split_parts,
)
from selection.limits import LONGEST_RESPONSE
from selection.models import DELETED, Answer, Assignment, Candidate, Run

from . import uncounted
from .lookup import AssignmentLookup, read_slip

CHUNK = 2000
# NUL, lone surrogates, and the replacement character for unreadable bytes.
NO_TEXT = re.compile("[\0\ud800-\udfff\ufffd]")
TOO_LATE = "Too late: the time to answer this question was up."
NOT_FOUND = "There is no such assignment."
ANSWERED_DIFFERENTLY = "This question was answered otherwise already: the first answer counts."


@dataclass(frozen=True)
class Receipt:
    """The reply to a sender, which never reveals the grade.

    kept  False if the question was retired before the answer came
    """

    assignment: int
    duplicate: bool
    kept: bool = True


def record_answer(
    assignment_id: int,
    response: str,
    candidate_id: int | None = None,
    team_id: int | None = None,
    door: str = uncounted.PAGE,
) -> Receipt:
    """Record a worker's response to an assignment, once.

    candidate_id  the assignment must be this candidate's, or of the same worker in another skill
    team_id       it must be of a run of this team
    door          where it came in, for answers that do not count

    The same response again changes nothing. Raises NotFound, Refused for an empty or overlong
    response or one outside the choices, TooLate when time was up, Answered if another response was
    first, Withdrawn, Conflict when the run has ended.
    """
    try:
        receipt = _record_response(assignment_id, response, candidate_id, team_id)
    except Refused as refusal:
        if reason := uncounted.reason_of(refusal):
            uncounted.note_answers(reason, door, [assignment_id])
        raise
    if not receipt.kept:
        uncounted.note_answers(uncounted.Reason.RETIRED, door, [assignment_id])
    return receipt


def _record_response(
    assignment_id: int, response: str, candidate_id: int | None, team_id: int | None
) -> Receipt:
    slip = _read_slip(assignment_id, candidate_id, team_id)
    refusal = refusal_of(slip, response)
    if refusal is not None or not _insert_answer(slip, response):
        return _receipt_if_closed(assignment_id, response, refusal)
    wakeups.request_step(slip.run_id)
    return Receipt(assignment_id, duplicate=False)


def refuse_waiting(run: Run) -> None:
    """Raise Refused if no answer can wait for its question: imported ones have another order."""
    if run.selector_class.common_order:
        title = run.selector_class.title
        raise Refused(
            f"{title} asks all models the same questions in one order: only answers to questions "
            "already asked can be imported."
        )


def _read_slip(
    assignment_id: int, candidate_id: int | None, team_id: int | None
) -> AssignmentLookup:
    slip = read_slip(assignment_id)
    if slip is None and uncounted.list_withdrawn([assignment_id], candidate_id, team_id):
        raise Withdrawn(uncounted.WITHDRAWN)
    if slip is None or team_id not in (None, slip.team_id) or not _belongs_to(slip, candidate_id):
        raise NotFound(NOT_FOUND)
    return slip


def _belongs_to(slip: AssignmentLookup, candidate_id: int | None) -> bool:
    owner = slip.candidate_id
    return candidate_id in (None, owner) or _is_same_worker(candidate_id, owner)


def _is_same_worker(first: int | None, second: int) -> bool:
    rows = Candidate.objects.filter(pk__in=[first, second]).order_by()
    workers = list(rows.values_list("run_id", "worker_id"))
    return len(workers) == 2 and workers[0] == workers[1]


def refusal_of(slip: AssignmentLookup, response: str) -> Refused | None:
    running = slip.status == Run.Status.RUNNING
    if running and slip.due is not None and slip.due < slip.at and is_overdue(slip):
        return TooLate(TOO_LATE)
    if slip.status == Run.Status.ENDED:
        return Conflict("This run has ended; no more answers are needed.")
    try:
        refuse_response(response)
    except Refused as refusal:
        return refusal
    if not is_possible_answer(slip.choices, response, slip.grading):
        return outside_choices(slip.choices, response, kind_of(slip.choices, slip.grading))
    return None


def _receipt_if_closed(assignment_id: int, response: str, refusal: Refused | None) -> Receipt:
    """Reply for a closed assignment, which takes precedence over any other refusal."""
    rows = Answer.objects.filter(pk=assignment_id).values_list("expired", "response")
    first = next(iter(rows), None)
    if first is None:
        raise refusal or no_assignment(assignment_id)
    return receipt_for_repeat(assignment_id, response, *first)


def no_assignment(assignment_id: int) -> Refused:
    """Refuse an assignment that was withdrawn just now."""
    handed = uncounted.list_withdrawn([assignment_id])
    return Withdrawn(uncounted.WITHDRAWN) if handed else NotFound(NOT_FOUND)


def is_overdue(slip: AssignmentLookup) -> bool:
    """Tell if the assignment may be closed as overdue, by ``overdue.expire_overdue``.

    It reads anew, because the time to answer may have been given back since.
    """
    return Assignment.objects.filter(pk=slip.assignment_id).overdue(slip.at).exists()


def receipt_for_repeat(
    assignment_id: int, response: str, expired: bool, first: str | None
) -> Receipt:
    """Write the receipt for a closed assignment. Raises TooLate or Answered.

    One of a retired question has no response, and accepts any.
    """
    if expired:
        raise TooLate(TOO_LATE)
    if first and first not in (response, DELETED):
        raise Answered(ANSWERED_DIFFERENTLY)
    return Receipt(assignment_id, duplicate=True, kept=bool(first))


def _insert_answer(slip: AssignmentLookup, response: str) -> bool:
    return insert_answers({slip.assignment_id: slip}, {slip.assignment_id: response}) == 1


def insert_answers(slips: Mapping[int, AssignmentLookup], responses: Mapping[int, str]) -> int:
    """Store these responses by assignment; return the number stored.

    It skips assignments that are answered already or were withdrawn just now (engine.withdrawal).
    """
    ids = sorted(responses)  # in one order, so that concurrent inserts never deadlock
    ordered = [slips[pk] for pk in ids]
    graded = zip(ids, ordered, strict=True)
    columns: dict[str, Sequence[Any]] = {
        "assignment_id": ids,
        "run_id": [slip.run_id for slip in ordered],
        "response": [responses[pk] for pk in ids],
        "right": [is_match(s.accepted, responses[pk], s.grading, s.choices) for pk, s in graded],
    }
    # The arrival time, by the clock of the deadlines.
    at = max((slip.at for slip in ordered), default=None)
    same = {"void": False, "expired": False, "at": at, "applied_in": None}
    try:
        return bulk.insert_rows(Answer, columns, same, ignore_conflicts=True)
    except IntegrityError:
        remaining = Assignment.objects.in_bulk(ids)
        if len(remaining) == len(ids):
            raise
        return insert_answers(slips, {pk: responses[pk] for pk in remaining})


def refuse_response(response: str) -> None:
    if not response.strip():
        raise Refused("The response is empty; send the worker's answer as text.")
    if len(response) > LONGEST_RESPONSE or NO_TEXT.search(response):
        raise Refused(
            f"The response must be readable text of at most {LONGEST_RESPONSE} characters."
        )


def outside_choices(choices: Sequence[str], response: str, kind: str = "") -> OutsideChoices:
    shortened = response if len(response) <= 80 else f"{response[:80]}…"
    if kind in ("number", "date", "time"):
        return OutsideChoices(f"“{shortened}” is not a {kind}.", kind)
    listed = " | ".join(choices)
    if kind == "order":
        return OutsideChoices(f"“{shortened}” is no order of the choices: {listed}.", kind)
    if kind == "multiple" and combines_none(split_parts(response)):
        sentence = f"“{shortened}” combines an answer such as “none of the above” with others."
        return OutsideChoices(sentence, "alone")
    if kind == "multiple":
        return OutsideChoices(f"“{shortened}” has others than the choices: {listed}.")
    return OutsideChoices(f"“{shortened}” is not among the choices: {listed}.")


# -- in bulk

# Of files: rows outside a question's choices may count as wrong, and asked questions be corrected.
Outside = Literal["refuse", "wrong", "correct"]


def record_many(run: Run, responses: Sequence[tuple[Assignment, str]]) -> int:
    """Record responses to open assignments of this run in bulk; return the number of new ones.

    The assignments carry their questions; an answer to a retired one is void. Nothing is checked
    except that each is answered once.
    """
    inserted = bulk.insert_rows(
        Answer,
        {
            "assignment_id": [assignment.pk for assignment, _ in responses],
            "response": [response for _, response in responses],
            "right": [assignment.question.grade(response) for assignment, response in responses],
            "void": [assignment.question.retired is not None for assignment, _ in responses],
        },
        same={
            "run_id": run.pk,
            "expired": False,
            "at": db_clock.database_now(),
            "applied_in": None,
        },
        ignore_conflicts=True,
    )
    wakeups.request_step(run.pk)
    return inserted

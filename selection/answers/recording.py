"""How answers come in: one by one, many at a time, or not at all because time was up."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db import IntegrityError

from selection import db_clock, wakeups
from selection.db import bulk
from selection.errors import Answered, Conflict, NotFound, OutsideChoices, Refused, TooLate
from selection.grading.rules import is_match, is_possible_answer, kind_of
from selection.limits import LONGEST_RESPONSE
from selection.models import DELETED, Answer, Assignment, Candidate, Run

from .lookup import AssignmentLookup, read_slip

CHUNK = 2000
# NUL, halves of pairs, and the character that stands for what could not be read.
NO_TEXT = re.compile("[\0\ud800-\udfff\ufffd]")
LATE = "Too late: the time to answer this question was up."
NONE = "There is no such assignment."
OTHERWISE = "This question was answered otherwise already: the first answer counts."


@dataclass(frozen=True)
class Receipt:
    """What a sender is told: never whether the answer was right.

    kept  False where the question was retired before the answer came
    """

    assignment: int
    duplicate: bool
    kept: bool = True


def record_answer(
    assignment_id: int,
    response: str,
    candidate_id: int | None = None,
    team_id: int | None = None,
) -> Receipt:
    """Record a worker's response to an assignment, once.

    candidate_id  the assignment must be this candidate's, or of the same worker in another skill
    team_id       it must be of a run of this team

    The same response again changes nothing. Raises NotFound, Refused for an empty or overlong
    response or one that is none of the choices, TooLate when time was up, Answered where another
    response was first, Conflict when the run has ended.
    """
    found = _read_slip(assignment_id, candidate_id, team_id)
    refusal = refusal_of(found, response)
    if refusal is not None or not _insert_answer(found, response):
        return _receipt_if_closed(assignment_id, response, refusal)
    wakeups.request_step(found.run_id)
    return Receipt(assignment_id, duplicate=False)


def _read_slip(
    assignment_id: int, candidate_id: int | None, team_id: int | None
) -> AssignmentLookup:
    found = read_slip(assignment_id)
    if (
        found is None
        or team_id not in (None, found.team_id)
        or not _belongs_to(found, candidate_id)
    ):
        raise NotFound(NONE)
    return found


def _belongs_to(slip: AssignmentLookup, candidate_id: int | None) -> bool:
    mine = slip.candidate_id
    return candidate_id in (None, mine) or _is_same_worker(candidate_id, mine)


def _is_same_worker(one: int | None, other: int) -> bool:
    """Whether both candidates are one worker in one run."""
    rows = Candidate.objects.filter(pk__in=[one, other]).order_by()
    workers = list(rows.values_list("run_id", "worker_id"))
    return len(workers) == 2 and workers[0] == workers[1]


def refusal_of(slip: AssignmentLookup, response: str) -> Refused | None:
    """Why this cannot be the answer to an open assignment."""
    running = slip.status == Run.Status.RUNNING
    if running and slip.due is not None and slip.due < slip.at and is_overdue(slip):
        return TooLate(LATE)
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
    """Of one that is closed, whatever else speaks against the response."""
    rows = Answer.objects.filter(pk=assignment_id).values_list("expired", "response")
    first = next(iter(rows), None)
    if first is None:
        raise refusal or NotFound(NONE)  # or it was taken back in this moment
    return receipt_for_repeat(assignment_id, response, *first)


def is_overdue(slip: AssignmentLookup) -> bool:
    """Whether it may be closed as overdue (``lapse``): asked anew, because the time to answer may
    have been given back since."""
    return Assignment.objects.filter(pk=slip.assignment_id).overdue(slip.at).exists()


def receipt_for_repeat(
    assignment_id: int, response: str, expired: bool, first: str | None
) -> Receipt:
    """What is said of an assignment that is closed. One whose question was retired has no response,
    and whatever comes makes no difference."""
    if expired:
        raise TooLate(LATE)
    if first and first not in (response, DELETED):
        raise Answered(OTHERWISE)
    return Receipt(assignment_id, duplicate=True, kept=bool(first))


def _insert_answer(slip: AssignmentLookup, response: str) -> bool:
    """Whether this answer is the assignment's first."""
    return insert_answers({slip.assignment_id: slip}, {slip.assignment_id: response}) == 1


def insert_answers(slips: Mapping[int, AssignmentLookup], responses: Mapping[int, str]) -> int:
    """Store these responses by assignment, but where one is there, or the assignment was taken back
    in this moment (engine.absence); returns how many."""
    ids = sorted(responses)  # so that two who do this at once never wait for each other in a circle
    own = [slips[pk] for pk in ids]
    graded = zip(ids, own, strict=True)
    columns: dict[str, Sequence[Any]] = {
        "assignment_id": ids,
        "run_id": [slip.run_id for slip in own],
        "response": [responses[pk] for pk in ids],
        "right": [is_match(slip.accepted, responses[pk], slip.grading) for pk, slip in graded],
    }
    # When they arrived, by the clock that their time to answer is taken by.
    at = max((slip.at for slip in own), default=None)
    same = {"void": False, "expired": False, "at": at, "applied_in": None}
    try:
        return bulk.insert_rows(Answer, columns, same, ignore_conflicts=True)
    except IntegrityError:
        there = Assignment.objects.in_bulk(ids)
        if len(there) == len(ids):
            raise
        return insert_answers(slips, {pk: responses[pk] for pk in there})


def refuse_response(response: str) -> None:
    """Raise Refused for a response that cannot be one."""
    if not response.strip():
        raise Refused("The response is empty; send the worker's answer as text.")
    if len(response) > LONGEST_RESPONSE or NO_TEXT.search(response):
        raise Refused(
            f"The response must be readable text of at most {LONGEST_RESPONSE} characters."
        )


def outside_choices(choices: Sequence[str], response: str, kind: str = "") -> OutsideChoices:
    said = response if len(response) <= 80 else f"{response[:80]}…"
    if kind == "number":
        return OutsideChoices(f"“{said}” is not a number.", kind)
    listed = " | ".join(choices)
    if kind == "order":
        return OutsideChoices(f"“{said}” is no order of the choices: {listed}.", kind)
    if kind == "multiple":
        return OutsideChoices(f"“{said}” has others than the choices: {listed}.")
    return OutsideChoices(f"“{said}” is not among the choices: {listed}.")


# -- many at a time

Outside = Literal["refuse", "wrong"]


def record_many(run: Run, responses: Sequence[tuple[Assignment, str]]) -> int:
    """Record responses to open assignments of this run in bulk; returns how many were new.

    The assignments carry their questions; an answer to a retired one is void. Nothing is checked
    but that each is answered once.
    """
    made = bulk.insert_rows(
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
    return made


# -- not at all


def expire_overdue(now: datetime | None = None) -> list[int]:
    """As ``lapse``; returns the runs touched."""
    return sorted(lapse_overdue(now))


def lapse_overdue(now: datetime | None = None) -> dict[int, int]:
    """Close every overdue assignment of a running run as lapsed; returns how many, by run.

    Only what was shown has a time to answer. What became due after the web was last known to take
    answers stays open: that time is given back (``setup.outages``).

    The estimate is of "right, in time". An answer that arrives in the same moment wins or loses as
    a whole: an assignment has one answer.
    """
    now = now or db_clock.database_now()
    overdue = list(
        Assignment.objects.overdue(now)
        .filter(candidate__run__status=Run.Status.RUNNING)
        .values_list("id", "candidate__run_id")
    )
    closings = [
        Answer(assignment_id=assignment, run_id=run, right=False, expired=True, at=now)
        for assignment, run in overdue
    ]
    Answer.objects.bulk_create(closings, CHUNK, ignore_conflicts=True)
    touched = Counter(run for _, run in overdue)
    for run in touched:
        wakeups.request_step(run)
    return dict(touched)

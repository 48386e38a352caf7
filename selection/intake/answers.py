"""How answers come in: one by one, many at a time, or not at all because time was up."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from django.db import IntegrityError, transaction
from django.utils import timezone

from selection import clock, wake
from selection.errors import Answered, Conflict, NotFound, OutsideChoices, Refused, TooLate
from selection.models import Answer, Assignment, Candidate, Pulse, Run
from selection.models.grading import allowed, kind_of, matches

from . import bulk

CHUNK = 2000
LONGEST = 10_000
# NUL, halves of pairs, and the character that stands for what could not be read.
NO_TEXT = re.compile("[\0\ud800-\udfff\ufffd]")
LATE = "Too late: the time to answer this question was up."
NONE = "There is no such assignment."
OTHERWISE = "This question was answered otherwise already: the first answer counts."


@dataclass(frozen=True)
class Receipt:
    """What a sender is told: never whether the answer was right."""

    assignment: int
    duplicate: bool


def record(
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
    slip, now = _slip(assignment_id, candidate_id, team_id), timezone.now()
    if slip.expired is not None:
        return again(assignment_id, response, slip.expired, slip.response)
    refuse_now(slip, response, now)
    answer = Answer(
        assignment_id=assignment_id,
        run_id=slip.run_id,
        response=response,
        right=matches(slip.accepted, response, slip.grading),
        at=now,
    )
    if not _insert(answer):
        first = Answer.objects.get(pk=assignment_id)
        return again(assignment_id, response, first.expired, first.response)
    wake.request(slip.run_id)
    return Receipt(assignment_id, duplicate=False)


class Slip(NamedTuple):
    """What recording needs to know of an assignment; expired and response are None while it is
    open."""

    candidate_id: int
    run_id: int
    team_id: int
    status: str
    due: datetime | None
    accepted: list[str]
    choices: list[str]
    grading: dict[str, Any]
    expired: bool | None
    response: str | None


# Columns, not models, and resolved once: half the time of recording an answer went there.
SLIP = (
    "candidate_id",
    "candidate__run_id",
    "candidate__run__team_id",
    "candidate__run__status",
    "due",
    "question__accepted",
    "question__choices",
    "question__grading",
    "answer__expired",
    "answer__response",
)
SLIPS = Assignment.objects.values_list(*SLIP).order_by()


def _slip(assignment_id: int, candidate_id: int | None, team_id: int | None) -> Slip:
    found = next((Slip(*row) for row in SLIPS.filter(pk=assignment_id)), None)
    if found is None or team_id not in (None, found.team_id) or not _is(found, candidate_id):
        raise NotFound(NONE)
    return found


def _is(slip: Slip, candidate_id: int | None) -> bool:
    mine = slip.candidate_id
    return candidate_id in (None, mine) or _same(candidate_id, mine)


def _same(one: int | None, other: int) -> bool:
    """Whether both candidates are one worker in one run."""
    rows = Candidate.objects.filter(pk__in=[one, other]).order_by()
    workers = list(rows.values_list("run_id", "worker_id"))
    return len(workers) == 2 and workers[0] == workers[1]


def refuse_now(slip: Slip, response: str, now: datetime) -> None:
    """Raise Refused where this cannot be the answer to an open assignment."""
    if slip.due is not None and slip.due < now and slip.status == Run.Status.RUNNING:
        refuse_overdue(slip.due)
    if slip.status == Run.Status.ENDED:
        raise Conflict("This run has ended; no more answers are needed.")
    refuse_response(response)
    if not allowed(slip.choices, response, slip.grading):
        raise outside_choices(slip.choices, response, kind_of(slip.choices, slip.grading))


def refuse_overdue(due: datetime) -> None:
    """Raise TooLate for what may be closed as overdue (``lapse``), by whatever clock."""
    if due < Pulse.objects.time_taken(clock.now()):
        raise TooLate(LATE)


def again(assignment_id: int, response: str, expired: bool, first: str | None) -> Receipt:
    """What is said of an assignment that is closed. One whose question was retired has no response,
    and whatever comes makes no difference."""
    if expired:
        raise TooLate(LATE)
    if first and first != response:
        raise Answered(OTHERWISE)
    return Receipt(assignment_id, duplicate=True)


def _insert(answer: Answer) -> bool:
    """Whether this answer is the assignment's first."""
    try:
        # A savepoint only inside a transaction: alone, one INSERT is a transaction of its own.
        if transaction.get_connection().in_atomic_block:
            with transaction.atomic():
                answer.save(force_insert=True)
        else:
            answer.save(force_insert=True)
    except IntegrityError:
        return False
    return True


def refuse_response(response: str) -> None:
    """Raise Refused for a response that cannot be one."""
    if not response.strip():
        raise Refused("The response is empty; send the worker's answer as text.")
    if len(response) > LONGEST or NO_TEXT.search(response):
        raise Refused(f"The response must be readable text of at most {LONGEST} characters.")


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
    made = bulk.insert(
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
            "at": timezone.now(),
            "applied_in": None,
        },
        ignore_conflicts=True,
    )
    wake.request(run.pk)
    return made


# -- not at all


def expire(now: datetime | None = None) -> list[int]:
    """As ``lapse``; returns the runs touched."""
    return sorted(lapse(now))


def lapse(now: datetime | None = None) -> dict[int, int]:
    """Close every overdue assignment of a running run as lapsed; returns how many, by run.

    Only what was shown has a time to answer. What became due after the web was last known to take
    answers stays open: that time is given back (``setup.outages``).

    The estimate is of "right, in time". An answer that arrives in the same moment wins or loses as
    a whole: an assignment has one answer.
    """
    now = now or clock.now()
    overdue = list(
        Assignment.objects.open()
        .filter(candidate__run__status=Run.Status.RUNNING, due__lt=Pulse.objects.time_taken(now))
        .values_list("id", "candidate__run_id")
    )
    closings = [
        Answer(assignment_id=assignment, run_id=run, right=False, expired=True, at=now)
        for assignment, run in overdue
    ]
    Answer.objects.bulk_create(closings, CHUNK, ignore_conflicts=True)
    touched = Counter(run for _, run in overdue)
    for run in touched:
        wake.request(run)
    return dict(touched)

"""Answers that do not count: the one place where every door leaves them, with the reason.

The first one of a reason is an event of the run or watch; its page and the API have the numbers. A
repeat changes nothing, because an assignment has one row, as have the worker and question of gold.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from django.utils.crypto import salted_hmac

from selection import audit, db_clock
from selection.errors import (
    Answered,
    Conflict,
    Met,
    NotFound,
    Refused,
    Retired,
    TooLate,
    Withdrawn,
)
from selection.history import events
from selection.models import Assignment, Run, UncountedAnswer, Watch, plain_key

Reason = UncountedAnswer.Reason
EVENT = "uncounted"  # kind of the event
# The ids of the team, the run, the candidate and the question, and the number of the assignment.
Place = tuple[int | None, int, int, int, int | None]
PAGE, API, FILE, MODEL = "page", "api", "file", "model"
WITHDRAWN = "Too late: this question was withdrawn, because nobody was known to be at it."


def reason_of(refusal: Refused) -> Reason | None:
    """Name the reason; None if the sender may mend the answer, or there is no such question."""
    for kind, reason in (
        (TooLate, Reason.LATE),
        (Answered, Reason.CHANGED),
        (Withdrawn, Reason.WITHDRAWN),
        (Met, Reason.MET),
        (Retired, Reason.RETIRED),
        (Conflict, Reason.ENDED),
    ):
        if isinstance(refusal, kind):
            return reason
    return None


def note_answers(reason: Reason, door: str, assignments: Collection[int]) -> None:
    """Note answers to these assignments, of which some may be withdrawn."""
    now = db_clock.database_now()
    withdrawn = UncountedAnswer.objects.filter(number__in=assignments, at=None)
    for run in Run.objects.filter(uncounted__in=withdrawn).distinct():
        _tell_run(run, Reason.WITHDRAWN)
    withdrawn.update(at=now, door=door)
    rows = Assignment.objects.filter(pk__in=assignments).order_by()
    columns = ("candidate__run__team", "candidate__run", "candidate", "question", "pk")
    _store(door, _build_rows(reason, rows.values_list(*columns)))


def note_rows(run: Run, door: str, rows: Iterable[tuple[int, int, str]]) -> None:
    """Note answers by candidate and question that are not taken; equal ones are repeats."""
    given = {(candidate, question): response for candidate, question, response in rows}
    if not given:
        return
    columns = ("candidate", "question", "pk", "answer__expired", "answer__response")
    asked = Assignment.objects.filter(candidate__run=run).order_by().values_list(*columns)
    stored = {(candidate, question): rest for candidate, question, *rest in asked}
    by_reason: dict[Reason, list[Place]] = defaultdict(list)
    for (candidate, question), response in given.items():
        number, expired, first = stored.get((candidate, question), (None, None, None))
        if first != response:
            reason = _reason_of_row(run, number, expired, first)
            by_reason[reason].append((run.team_id, run.pk, candidate, question, number))
    for reason, places in by_reason.items():
        _store(door, _build_rows(reason, places))


def _reason_of_row(run: Run, number: int | None, expired: bool | None, first: str | None) -> Reason:
    if expired is None and run.status == Run.Status.ENDED:
        return Reason.ENDED
    if expired is None and number is None:
        return Reason.WITHDRAWN
    if expired or first is None:
        return Reason.LATE
    return Reason.CHANGED if first else Reason.RETIRED


def _build_rows(reason: Reason, rows: Iterable[Place]) -> list[UncountedAnswer]:
    names = ("team_id", "run_id", "candidate_id", "question_id", "number")
    return [UncountedAnswer(reason=reason, **dict(zip(names, row, strict=True))) for row in rows]


def _store(door: str, answers: Collection[UncountedAnswer]) -> None:
    now = db_clock.database_now()
    for answer in answers:
        answer.door, answer.at = door, now
    UncountedAnswer.objects.bulk_create(answers, 500, ignore_conflicts=True)
    reasons = {(answer.run_id, Reason(answer.reason)) for answer in answers if answer.run_id}
    for run, reason in reasons:
        _tell_run(Run.objects.get(pk=run), reason)


def _tell_run(run: Run, reason: Reason) -> None:
    what = f"An answer was not counted: {reason.label}. The run's page counts all such answers."
    if not run.events.filter(kind=EVENT, what=what).exists():
        events.write_event(run, EVENT, what)


def reason_of_gold(refusal: Refused) -> Reason:
    """Name the reason. The sender may mend the answer: it is forgotten when it counts."""
    mendable = Reason.UNKNOWN if isinstance(refusal, NotFound) else Reason.UNREADABLE
    return reason_of(refusal) or mendable


def place_of_gold(worker: str, question: str) -> str:
    """Name the place of a gold answer; hashed, so that no unknown person is stored."""
    return salted_hmac("gold", f"{plain_key(worker)}\n{plain_key(question)}").hexdigest()


def note_gold(
    watch: Watch, door: str, reasons: Mapping[str, Reason], counted: Collection[str] = ()
) -> None:
    """Note gold answers of a watch by place, and forget mended ones, which count now."""
    if counted:
        watch.uncounted.filter(place__in=counted).delete()
    if not reasons:
        return
    known = set(watch.uncounted.order_by().values_list("reason", flat=True).distinct())
    rows = [
        UncountedAnswer(team_id=watch.team_id, watch=watch, place=one, reason=why)
        for one, why in reasons.items()
    ]
    _store(door, rows)
    for reason in sorted(set(reasons.values()) - known):
        audit.record_entry("uncounted", watch, who="watch", why=reason.label)


def forget(assignment: int) -> None:
    """Forget an answer that was refused, and counts since it was corrected."""
    UncountedAnswer.objects.filter(number=assignment).delete()


def remember_withdrawn(assignments: Collection[int]) -> None:
    """Remember those of these assignments that were handed out: their answers may still come."""
    rows = Assignment.objects.filter(pk__in=assignments).exclude(handed=None).order_by()
    columns = ("candidate__run__team", "candidate__run", "candidate", "question", "pk")
    answers = _build_rows(Reason.WITHDRAWN, rows.values_list(*columns))
    UncountedAnswer.objects.bulk_create(answers, 500, ignore_conflicts=True)


def list_withdrawn(
    assignments: Collection[int], candidate_id: int | None = None, team_id: int | None = None
) -> set[int]:
    """List those of these assignments that were handed out and withdrawn.

    candidate_id, team_id  only of this candidate, of runs of this team
    """
    rows = UncountedAnswer.objects.filter(number__in=assignments, reason=Reason.WITHDRAWN)
    rows = rows if candidate_id is None else rows.filter(candidate=candidate_id)
    rows = rows if team_id is None else rows.filter(team=team_id)
    return {number for number in rows.values_list("number", flat=True) if number is not None}

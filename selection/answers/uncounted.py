"""Answers that do not count: the one place where every door leaves them, with the reason.

The first one of a reason is an event of the run; its page and the API have the numbers. A repeat
changes nothing, because an assignment has one row.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable

from selection import db_clock
from selection.errors import Answered, Conflict, Refused, TooLate, Withdrawn
from selection.history import events
from selection.models import Assignment, Run, UncountedAnswer

Reason = UncountedAnswer.Reason
EVENT = "uncounted"  # kind of the event
PAGE, API, FILE, MODEL = "page", "api", "file", "model"
WITHDRAWN = "Too late: this question was withdrawn, because nobody was known to be at it."


def reason_of(refusal: Refused) -> Reason | None:
    """Name the reason; None if the sender may mend the answer, or there is no such question."""
    for kind, reason in (
        (TooLate, Reason.LATE),
        (Answered, Reason.CHANGED),
        (Withdrawn, Reason.WITHDRAWN),
        (Conflict, Reason.ENDED),
    ):
        if isinstance(refusal, kind):
            return reason
    return None


def note_answers(reason: Reason, door: str, assignments: Collection[int]) -> None:
    """Note answers to these assignments, of which some may be withdrawn."""
    now = db_clock.database_now()
    withdrawn = UncountedAnswer.objects.filter(number__in=assignments, at=None)
    for run in set(withdrawn.order_by().values_list("run", flat=True)):
        _tell(run, Reason.WITHDRAWN)
    withdrawn.update(at=now, door=door)
    rows = Assignment.objects.filter(pk__in=assignments).order_by()
    columns = ("candidate__run", "candidate", "question", "pk")
    _store(reason, door, rows.values_list(*columns))


def note_rows(run: Run, door: str, rows: Iterable[tuple[int, int, str]]) -> None:
    """Note answers by candidate and question that are not taken; equal ones are repeats."""
    given = {(candidate, question): response for candidate, question, response in rows}
    if not given:
        return
    columns = ("candidate", "question", "pk", "answer__expired", "answer__response")
    asked = Assignment.objects.filter(candidate__run=run).order_by().values_list(*columns)
    stored = {(candidate, question): rest for candidate, question, *rest in asked}
    by_reason: dict[Reason, list[tuple[int, int, int, int | None]]] = defaultdict(list)
    for (candidate, question), response in given.items():
        number, expired, first = stored.get((candidate, question), (None, None, None))
        if first != response:
            reason = _reason_of_row(run, number, expired, first)
            by_reason[reason].append((run.pk, candidate, question, number))
    for reason, places in by_reason.items():
        _store(reason, door, places)


def _reason_of_row(run: Run, number: int | None, expired: bool | None, first: str | None) -> Reason:
    if expired is None and run.status == Run.Status.ENDED:
        return Reason.ENDED
    if expired is None and number is None:
        return Reason.WITHDRAWN
    if expired or first is None:
        return Reason.LATE
    return Reason.CHANGED if first else Reason.RETIRED


def _store(reason: Reason, door: str, rows: Iterable[tuple[int, int, int, int | None]]) -> None:
    now = db_clock.database_now()
    answers = [
        UncountedAnswer(
            run_id=run,
            candidate_id=candidate,
            question_id=question,
            number=number,
            reason=reason,
            door=door,
            at=now,
        )
        for run, candidate, question, number in rows
    ]
    UncountedAnswer.objects.bulk_create(answers, 500, ignore_conflicts=True)
    for run in {answer.run_id for answer in answers}:
        _tell(run, reason)


def _tell(run_id: int, reason: Reason) -> None:
    what = f"An answer was not counted: {reason.label}. The run's page counts all such answers."
    run = Run.objects.get(pk=run_id)
    if not run.events.filter(kind=EVENT, what=what).exists():
        events.write_event(run, EVENT, what)


def forget(assignment: int) -> None:
    """Forget an answer that was refused, and counts since it was corrected."""
    UncountedAnswer.objects.filter(number=assignment).delete()


def remember_withdrawn(assignments: Collection[int]) -> None:
    """Remember those of these assignments that were handed out: their answers may still come."""
    rows = Assignment.objects.filter(pk__in=assignments).exclude(handed=None).order_by()
    columns = rows.values_list("candidate__run", "candidate", "question", "pk")
    UncountedAnswer.objects.bulk_create(
        [
            UncountedAnswer(
                run_id=run,
                candidate_id=candidate,
                question_id=question,
                number=number,
                reason=Reason.WITHDRAWN,
            )
            for run, candidate, question, number in columns
        ],
        500,
        ignore_conflicts=True,
    )


def list_withdrawn(
    assignments: Collection[int], candidate_id: int | None = None, team_id: int | None = None
) -> set[int]:
    """List those of these assignments that were handed out and withdrawn.

    candidate_id, team_id  only of this candidate, of runs of this team
    """
    rows = UncountedAnswer.objects.filter(number__in=assignments, reason=Reason.WITHDRAWN)
    rows = rows if candidate_id is None else rows.filter(candidate=candidate_id)
    rows = rows if team_id is None else rows.filter(run__team=team_id)
    return {number for number in rows.values_list("number", flat=True) if number is not None}

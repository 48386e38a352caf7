"""Validate answers made elsewhere, many at a time, and record the valid ones."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from selection import db_clock, wakeups
from selection.answers import uncounted
from selection.answers.recording import (
    CHUNK,
    Outside,
    outside_choices,
    record_many,
    refuse_response,
    refuse_waiting,
)
from selection.errors import Conflict, Refused
from selection.models import Assignment, Candidate, Question, RecordedAnswer, Run, plain_key

from .row_parsers import AnswerRow, BadRow, refuse_swapped


class ClosedPlace(Refused):
    """A row whose question is closed for its worker. place: candidate and question."""

    def __init__(self, why: str, place: tuple[int, int]) -> None:
        super().__init__(why)
        self.place = place


@dataclass
class ValidationResult:
    """The rows of a file by their fate.

    answers   to outstanding assignments
    recorded  kept until the algorithm asks that worker that question
    problems  refused rows, each with its line and reason
    outside   number of rows that are none of their question's choices
    closed    candidate, question and response of refused rows whose question is closed
    """

    answers: list[tuple[Assignment, str]]
    recorded: list[RecordedAnswer]
    problems: list[BadRow]
    outside: int = 0
    closed: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def valid_count(self) -> int:
        return len(self.answers) + len(self.recorded)


def validate_answers(
    run: Run, rows: Sequence[AnswerRow], outside: Outside = "refuse"
) -> ValidationResult:
    """Check how each row would be recorded, or its refusal; change nothing.

    outside  "refuse" or "wrong": the treatment of answers that are none of the choices

    Of several rows for one worker and question the first counts. Raises Conflict if the run takes
    no answers, Refused if the columns are swapped.
    """
    validator = AnswerValidator(run, outside)
    validator.note_ended(rows, uncounted.API)
    refuse_ended(run)
    return validator.sort(rows)


def refuse_ended(run: Run) -> None:
    if run.status not in {Run.Status.RUNNING, Run.Status.PAUSED}:
        if run.status == Run.Status.DRAFT:
            raise Conflict(f"“{run}” is still a draft. Start it before you import answers.")
        raise Conflict(f"“{run}” has {run.status}. Only a running or paused run accepts answers.")


def record_valid_answers(run: Run, result: ValidationResult) -> None:
    """Record the valid answers, except those given in the meantime; update the result accordingly.

    All of them or none. The run is locked: a concurrent step could hand out the waiting answers a
    second time. Raises Conflict if it has ended since.
    """
    with transaction.atomic():
        locked = Run.objects.locked(run.pk) or run
        refuse_ended(locked)
        if locked.steps != run.steps:
            _look_again(run, result)
        uncounted.note_rows(run, uncounted.API, result.closed)
        record_many(run, result.answers)
        if result.recorded:
            RecordedAnswer.objects.bulk_create(result.recorded, CHUNK, ignore_conflicts=True)
            Run.objects.filter(pk=run.pk).update(has_recorded=True)
        wakeups.request_step(run.pk)


def _look_again(run: Run, result: ValidationResult) -> None:
    """Update the result after a step that came in between.

    Answers to newly dealt assignments count, answers to withdrawn ones wait, and answers to closed
    ones do not count.
    """
    responses = {(row.candidate_id, row.question_id): response for row, response in result.answers}
    responses |= {(row.candidate_id, row.question_id): row.response for row in result.recorded}
    assignments = Assignment.objects.filter(candidate__run=run)
    outstanding = {
        (row.candidate_id, row.question_id): row
        for row in assignments.open().select_related("question")
    }
    closed = _pairs_of(assignments.exclude(answer=None))
    later = responses.keys() - outstanding.keys() - closed
    result.answers = [
        (outstanding[pair], response) for pair, response in responses.items() if pair in outstanding
    ]
    result.recorded = [
        RecordedAnswer(candidate_id=pair[0], question_id=pair[1], response=response)
        for pair, response in responses.items()
        if pair in later and not run.selector_class.common_order
    ]
    taken = outstanding.keys() | {(row.candidate_id, row.question_id) for row in result.recorded}
    result.closed += [
        (*pair, response) for pair, response in responses.items() if pair not in taken
    ]


def _pairs_of(rows: QuerySet[Any]) -> set[tuple[int, int]]:
    return set(rows.values_list("candidate_id", "question_id"))


@dataclass(frozen=True)
class AnswerPlace:
    """The question that an answer belongs to; ``assignment`` is None if it was not asked yet."""

    candidate: int
    question: Question
    assignment: Assignment | None

    @property
    def pair(self) -> tuple[int, int]:
        return self.candidate, self.question.pk

    def strange(self, response: str) -> Refused:
        return outside_choices(self.question.choices, response, self.question.kind)


class AnswerValidator:
    """Lookups for validating a file, made once.

    at  time at which the file arrived, if not with the present request
    """

    def __init__(self, run: Run, outside: Outside, at: datetime | None = None) -> None:
        self.run, self.refuse_outside = run, outside == "refuse"
        self.first: dict[tuple[int, int], int] = {}
        self.candidates = {
            (candidate.worker.key, candidate.skill): candidate
            for candidate in run.candidates.select_related("worker").order_by("arm")
        }
        self.workers = {worker for worker, _ in self.candidates}
        # With one skill, a column of this name is about something else.
        several = run.skills if run.several else []
        self.skills = {str(skill): skill.number for skill in several}
        self.questions: dict[str, dict[int, Question]] = {}
        for skill in run.skills:
            for question in skill.question_set.questions.all():
                self.questions.setdefault(question.key, {})[skill.number] = question
        assignments = Assignment.objects.filter(candidate__run=run)
        self.closed = _pairs_of(assignments.exclude(answer=None))
        # Without a response: it lapsed, or the question was retired first.
        self.unsaid = _pairs_of(assignments.filter(answer__response=""))
        self.open = {
            (assignment.candidate_id, assignment.question_id): assignment
            for assignment in assignments.open().select_related("question")
        }
        running = run.status == Run.Status.RUNNING  # no deadline passes during a pause
        late = assignments.overdue(at or db_clock.request_time()) if running else assignments.none()
        self.late = set(late.values_list("pk", flat=True))
        self.waiting = _pairs_of(RecordedAnswer.objects.filter(candidate__run=run))

    def sort(self, rows: Sequence[AnswerRow]) -> ValidationResult:
        self.refuse_swapped(rows)
        result = ValidationResult([], [], [])
        for row in rows:
            try:
                self._validate_row(row, result)
            except ClosedPlace as refusal:
                result.closed.append((*refusal.place, row.response))
                result.problems.append(BadRow(row.line, str(refusal)))
            except Refused as refusal:
                result.problems.append(BadRow(row.line, str(refusal)))
        return result

    def note_ended(self, rows: Sequence[AnswerRow], door: str = uncounted.FILE) -> None:
        """Note the rows that are about this run, if it has ended: they do not count."""
        known = []
        for row in rows if self.run.status == Run.Status.ENDED else ():
            with suppress(Refused):
                candidate, question = self._find_candidate(row)
                known.append((candidate.pk, question.pk, row.response))
        uncounted.note_rows(self.run, door, known)

    def _validate_row(self, row: AnswerRow, result: ValidationResult) -> None:
        place = self.place(row)
        if place.pair in self.first:
            raise Refused(
                f"“{row.worker}” answers question “{row.question}” in row {self.first[place.pair]} "
                "already; the first answer counts."
            )
        if not place.question.allows(row.response):
            result.outside += 1
            if self.refuse_outside:
                raise place.strange(row.response)
        self.first[place.pair] = row.line
        if place.assignment is not None:
            result.answers.append((place.assignment, row.response))
        else:
            candidate, question = place.pair
            result.recorded.append(
                RecordedAnswer(candidate_id=candidate, question_id=question, response=row.response)
            )

    def place(self, row: AnswerRow) -> AnswerPlace:
        """Find the place of this row's answer. Raises Refused if it can no longer be answered."""
        candidate, question = self._find_candidate(row)
        pair = (candidate.pk, question.pk)
        if pair in self.closed or pair in self.waiting:
            raise ClosedPlace(self._explain_closed(row, pair, question), pair)
        refuse_response(row.response)
        if self.run.status == Run.Status.ENDED:
            raise ClosedPlace(f"Too late: “{self.run}” has ended.", pair)
        assignment = self.open.get(pair)
        if assignment is not None and assignment.pk in self.late:
            why = f"Too late: “{row.worker}” had to answer “{row.question}” before."
            raise ClosedPlace(why, pair)
        if assignment is None:
            refuse_waiting(self.run)
        return AnswerPlace(candidate.pk, question, assignment)

    def _explain_closed(self, row: AnswerRow, pair: tuple[int, int], question: Question) -> str:
        if pair in self.unsaid and question.retired:
            return f"Question “{row.question}” was retired before “{row.worker}” answered it."
        if pair in self.unsaid:
            return f"Too late: “{row.worker}” had to answer “{row.question}” before."
        return f"“{row.worker}” has already answered question “{row.question}”."

    def refuse_swapped(self, rows: Sequence[AnswerRow]) -> None:
        refuse_swapped_answers(rows, self.workers, set(self.questions), "this run")

    def _find_candidate(self, row: AnswerRow) -> tuple[Candidate, Question]:
        worker = plain_key(row.worker)
        if worker not in self.workers:
            raise Refused(f"There is no worker “{row.worker}” in this run.")
        skill, question = self._find_question(row)
        return self.candidates[worker, skill], question

    def _find_question(self, row: AnswerRow) -> tuple[int, Question]:
        """Find the skill and the question; a row may omit a skill that is unambiguous."""
        skill = row.skill if self.skills else ""
        if skill and skill not in self.skills:
            raise Refused(f"There is no skill “{row.skill}” in this run.")
        questions = self.questions.get(plain_key(row.question), {})
        if skill:
            number = self.skills[skill]
            questions = {number: questions[number]} if number in questions else {}
        if not questions:
            place = f"the skill “{skill}”" if skill else "this run's question set"
            raise Refused(f"There is no question “{row.question}” in {place}.")
        if len(questions) > 1:
            raise Refused(f"Several skills have a question “{row.question}”: add a column “skill”.")
        return next(iter(questions.items()))


def refuse_swapped_answers(
    rows: Sequence[AnswerRow], workers: set[str], questions: set[str], place: str
) -> None:
    """Raise Refused once for the file, rather than for each row, if columns are swapped."""
    columns = {
        "worker": [row.worker for row in rows],
        "question": [row.question for row in rows],
        "response": [row.response for row in rows],
    }
    refuse_swapped("worker", workers, columns, f"{place}'s workers")
    columns.pop("worker")
    refuse_swapped("question", questions, columns, f"{place}'s questions")

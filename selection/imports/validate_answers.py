"""Answers made elsewhere, many at a time: sorted first, then taken as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from selection import db_clock, wakeups
from selection.answers.recording import (
    CHUNK,
    Outside,
    outside_choices,
    record_many,
    refuse_response,
)
from selection.errors import Conflict, Refused
from selection.models import Assignment, Candidate, Question, RecordedAnswer, Run, plain_key

from .row_parsers import AnswerRow, BadRow, refuse_swapped


@dataclass
class ValidationResult:
    """What would become of a file's rows.

    answers   to assignments that are out now
    recorded  kept until the algorithm asks that worker that question
    problems  refused, each with its line and reason
    outside   how many of the rows are none of their question's choices
    """

    answers: list[tuple[Assignment, str]]
    recorded: list[RecordedAnswer]
    problems: list[BadRow]
    outside: int = 0

    @property
    def taken(self) -> int:
        return len(self.answers) + len(self.recorded)


def validate_answers(
    run: Run, rows: Sequence[AnswerRow], outside: Outside = "refuse"
) -> ValidationResult:
    """Say of every row whether it would be taken, and how; changes nothing.

    outside  what becomes of an answer that is none of the choices

    Of several rows for one worker and question the first counts. Raises Conflict when the run takes
    no answers, Refused when the columns are swapped.
    """
    refuse_ended(run)
    return AnswerValidator(run, outside).sort(rows)


def refuse_ended(run: Run) -> None:
    """Raises Conflict when the run takes no answers."""
    if run.status not in {Run.Status.RUNNING, Run.Status.PAUSED}:
        raise Conflict(f"The run “{run}” is {run.status}; answers can be imported while it runs.")


def record_valid_answers(run: Run, sorting: ValidationResult) -> None:
    """Record what ``sort`` found good and nobody was quicker with; the sorting says what that is.

    All of it or nothing. The run is held: a step that hands out what waits here would do so twice.
    Raises Conflict where it has ended since.
    """
    with transaction.atomic():
        held = Run.objects.locked(run.pk) or run
        refuse_ended(held)
        if held.steps != run.steps:
            _look_again(run, sorting)
        record_many(run, sorting.answers)
        if sorting.recorded:
            RecordedAnswer.objects.bulk_create(sorting.recorded, CHUNK, ignore_conflicts=True)
            Run.objects.filter(pk=run.pk).update(has_recorded=True)
        wakeups.request_step(run.pk)


def _look_again(run: Run, sorting: ValidationResult) -> None:
    """After a step: what it asked for is answered, what it took back waits, and what has an answer
    by now keeps that."""
    given = {(one.candidate_id, one.question_id): said for one, said in sorting.answers}
    given |= {(one.candidate_id, one.question_id): one.response for one in sorting.recorded}
    asked = Assignment.objects.filter(candidate__run=run)
    out = {
        (one.candidate_id, one.question_id): one for one in asked.open().select_related("question")
    }
    closed = asked.exclude(answer=None).values_list("candidate_id", "question_id")
    later = given.keys() - out.keys() - set(closed)
    sorting.answers = [(out[pair], said) for pair, said in given.items() if pair in out]
    sorting.recorded = [
        RecordedAnswer(candidate_id=pair[0], question_id=pair[1], response=said)
        for pair, said in given.items()
        if pair in later
    ]


@dataclass(frozen=True)
class AnswerPlace:
    """What an answer is to; ``assignment`` is None while the algorithm has not asked for it."""

    candidate: int
    question: Question
    assignment: Assignment | None

    @property
    def pair(self) -> tuple[int, int]:
        return self.candidate, self.question.pk

    def strange(self, response: str) -> Refused:
        return outside_choices(self.question.choices, response, self.question.kind)


class AnswerValidator:
    """The lookups that sorting a file needs, made once.

    at  when the file arrived, where that was not with the present request
    """

    def __init__(self, run: Run, outside: Outside, at: datetime | None = None) -> None:
        self.refuse_outside = outside == "refuse"
        self.first: dict[tuple[int, int], int] = {}
        self.candidates = {
            (plain_key(candidate.worker.key), candidate.skill): candidate
            for candidate in run.candidates.select_related("worker").order_by("arm")
        }
        self.workers = {worker for worker, _ in self.candidates}
        # With one skill, a column of this name is about something else.
        several = run.skills if run.several else []
        self.skills = {str(skill): skill.number for skill in several}
        self.questions: dict[str, dict[int, Question]] = {}
        for skill in run.skills:
            for question in skill.question_set.questions.all():
                self.questions.setdefault(plain_key(question.key), {})[skill.number] = question
        asked = Assignment.objects.filter(candidate__run=run)
        self.closed = set(asked.exclude(answer=None).values_list("candidate_id", "question_id"))
        unsaid = asked.filter(answer__response="")  # it lapsed, or the question was retired first
        self.unsaid = set(unsaid.values_list("candidate_id", "question_id"))
        self.open = {
            (assignment.candidate_id, assignment.question_id): assignment
            for assignment in asked.open().select_related("question")
        }
        running = run.status == Run.Status.RUNNING  # in a pause nobody's time runs
        late = asked.overdue(at or db_clock.request_time()) if running else asked.none()
        self.late = set(late.values_list("pk", flat=True))
        self.waiting = set(
            RecordedAnswer.objects.filter(candidate__run=run).values_list(
                "candidate_id", "question_id"
            )
        )

    def sort(self, rows: Sequence[AnswerRow]) -> ValidationResult:
        self.refuse_swapped(rows)
        sorting = ValidationResult([], [], [])
        for row in rows:
            try:
                self._validate_row(row, sorting)
            except Refused as refusal:
                sorting.problems.append(BadRow(row.line, str(refusal)))
        return sorting

    def _validate_row(self, row: AnswerRow, sorting: ValidationResult) -> None:
        place = self.place(row)
        if place.pair in self.first:
            raise Refused(
                f"“{row.worker}” answers question “{row.question}” in row {self.first[place.pair]} "
                "already; the first answer counts."
            )
        if not place.question.allows(row.response):
            sorting.outside += 1
            if self.refuse_outside:
                raise place.strange(row.response)
        self.first[place.pair] = row.line
        if place.assignment is not None:
            sorting.answers.append((place.assignment, row.response))
        else:
            candidate, question = place.pair
            sorting.recorded.append(
                RecordedAnswer(candidate_id=candidate, question_id=question, response=row.response)
            )

    def place(self, row: AnswerRow) -> AnswerPlace:
        """What this row answers. Raises Refused where no answer to it is taken any more."""
        candidate, question = self._find_candidate(row)
        pair = (candidate.pk, question.pk)
        if pair in self.closed or pair in self.waiting:
            raise Refused(self._explain_closed(row, pair, question))
        refuse_response(row.response)
        assignment = self.open.get(pair)
        if assignment is not None and assignment.pk in self.late:
            raise Refused(f"Too late: “{row.worker}” had to answer “{row.question}” before.")
        return AnswerPlace(candidate.pk, question, assignment)

    def _explain_closed(self, row: AnswerRow, pair: tuple[int, int], question: Question) -> str:
        if pair in self.unsaid and question.retired:
            return f"Question “{row.question}” was retired before “{row.worker}” answered it."
        if pair in self.unsaid:
            return f"Too late: “{row.worker}” had to answer “{row.question}” before."
        return f"“{row.worker}” has already answered question “{row.question}”."

    def refuse_swapped(self, rows: Sequence[AnswerRow]) -> None:
        """One sentence instead of one a row where the columns stand under each other's names."""
        columns = {
            "worker": [row.worker for row in rows],
            "question": [row.question for row in rows],
            "response": [row.response for row in rows],
        }
        refuse_swapped("worker", self.workers, columns, "this run's workers")
        columns.pop("worker")
        refuse_swapped("question", set(self.questions), columns, "this run's questions")

    def _find_candidate(self, row: AnswerRow) -> tuple[Candidate, Question]:
        worker = plain_key(row.worker)
        if worker not in self.workers:
            raise Refused(f"There is no worker “{row.worker}” in this run.")
        skill, question = self._find_question(row)
        return self.candidates[worker, skill], question

    def _find_question(self, row: AnswerRow) -> tuple[int, Question]:
        """The question and its skill, which may go unsaid where one question set alone has it."""
        named = row.skill if self.skills else ""
        if named and named not in self.skills:
            raise Refused(f"There is no skill “{row.skill}” in this run.")
        having = self.questions.get(plain_key(row.question), {})
        if named:
            own = self.skills[named]
            having = {own: having[own]} if own in having else {}
        if not having:
            where = f"the skill “{named}”" if named else "this run's question set"
            raise Refused(f"There is no question “{row.question}” in {where}.")
        if len(having) > 1:
            raise Refused(f"Several skills have a question “{row.question}”: add a column “skill”.")
        return next(iter(having.items()))

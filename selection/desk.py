"""What a worker's own page shows: nothing that grades, and nothing of anybody else."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.utils import timezone

from .models import Answer, Assignment, Candidate, Run

State = Literal["question", "wait", "paused", "done"]


@dataclass(frozen=True)
class Desk:
    """question is the one to answer now: set if and only if state is "question"."""

    state: State
    instructions: str
    answered: int
    question: "OpenQuestion | None" = None


@dataclass(frozen=True)
class OpenQuestion:
    assignment: int
    prompt: str
    choices: list[str]
    due: datetime

    @property
    def seconds_left(self) -> int:
        return max(0, int((self.due - timezone.now()).total_seconds()))


def of(candidate_id: int) -> Desk | None:
    """The desk of this candidate; None if there is no such one any more."""
    candidate = (
        Candidate.objects.select_related("run__question_set")
        .defer("run__memory")
        .filter(pk=candidate_id)
        .first()
    )
    if candidate is None:
        return None
    question = _next_question(candidate)
    return Desk(
        state="question" if question else _idle(candidate),
        instructions=candidate.run.question_set.instructions,
        answered=Answer.objects.filter(assignment__candidate=candidate, expired=False).count(),
        question=question,
    )


def _finished(candidate: Candidate) -> bool:
    run = candidate.run
    decided = candidate.verdict != Candidate.Verdicts.UNDECIDED
    return decided or run.status == Run.Status.ENDED or run.recorded_only


def _next_question(candidate: Candidate) -> OpenQuestion | None:
    """The oldest question out with this worker, also in a pause: answers are taken then too."""
    if _finished(candidate):
        return None
    row = (
        Assignment.objects.answerable()
        .filter(candidate=candidate)
        .order_by("position")
        .values_list("id", "question__prompt", "question__choices", "due")
        .first()
    )
    return OpenQuestion(*row) if row else None


def _idle(candidate: Candidate) -> State:
    if _finished(candidate) or candidate.asked >= candidate.run.deck_size:
        return "done"
    return "paused" if candidate.run.status == Run.Status.PAUSED else "wait"

"""What a worker's own page shows: nothing that grades, and nothing of anybody else."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.utils import timezone

from selection.models import Answer, Assignment, Candidate, Run

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
    """The desk of this candidate's worker, in all skills; None if there is no such one any more."""
    own = (
        Candidate.objects.select_related("run__question_set")
        .defer("run__memory")
        .filter(pk=candidate_id)
        .first()
    )
    if own is None:
        return None
    run, candidates = own.run, _in_all_skills(own)
    found = _next_question(run, candidates)
    return Desk(
        state="question" if found else _idle(run, candidates),
        instructions=run.skills[found[0] if found else 0].question_set.instructions,
        answered=Answer.objects.filter(assignment__candidate__in=candidates, expired=False).count(),
        question=found[1] if found else None,
    )


def _in_all_skills(own: Candidate) -> list[Candidate]:
    if not own.run.several:
        return [own]
    return list(Candidate.objects.filter(run=own.run_id, worker=own.worker_id))


def _undecided(run: Run, candidates: list[Candidate]) -> list[Candidate]:
    """The skills in which this worker may still be asked."""
    if run.status == Run.Status.ENDED or run.recorded_only:
        return []
    return [one for one in candidates if one.verdict == Candidate.Verdicts.UNDECIDED]


def _next_question(run: Run, candidates: list[Candidate]) -> tuple[int, OpenQuestion] | None:
    """The oldest question out with this worker, also in a pause: answers are taken then too."""
    row = (
        Assignment.objects.answerable()
        .filter(candidate__in=_undecided(run, candidates))
        .order_by("step", "position", "id")
        .values_list("candidate__skill", "id", "question__prompt", "question__choices", "due")
        .first()
    )
    return (row[0], OpenQuestion(*row[1:])) if row else None


def _idle(run: Run, candidates: list[Candidate]) -> State:
    undecided = _undecided(run, candidates)
    if all(one.asked >= run.skills[one.skill].deck_size for one in undecided):
        return "done"
    return "paused" if run.status == Run.Status.PAUSED else "wait"

"""What a worker's own page shows: nothing that grades, and nothing of anybody else."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from django.utils import timezone
from django.utils.safestring import SafeString

from selection.intake import presence
from selection.models import Answer, Assignment, Candidate, Run
from selection.models.grading import kind_of

from .text import Texts

State = Literal["question", "wait", "paused", "gone", "done", "over"]


@dataclass(frozen=True)
class WorkPage:
    """question is the one to answer now: set if and only if state is "question".

    In the state "over" the run has ended and the link with it: nothing else is told then.

    gone       why the worker takes part no more, if so
    may_leave  whether there is something to leave
    """

    state: State
    instructions: SafeString
    answered: int
    question: "OpenQuestion | None" = None
    gone: str = ""
    may_leave: bool = False


@dataclass(frozen=True)
class OpenQuestion:
    assignment: int
    prompt: str
    choices: list[str]
    due: datetime
    kind: str
    texts: Texts = Texts.NONE

    @property
    def shown(self) -> SafeString:
        return self.texts.html(self.prompt)

    @property
    def choosing(self) -> list[tuple[str, SafeString]]:
        """Each choice, and how it is shown."""
        return [(choice, self.texts.choice(choice)) for choice in self.choices]

    @property
    def seconds_left(self) -> int:
        return max(0, int((self.due - timezone.now()).total_seconds()))


def visit(candidate_id: int, link: int = 0) -> WorkPage | None:
    """This candidate's worker looks at their page, in all skills, by their link of this number.

    It notes that they are there, and starts the clock of the question that it shows. None if there
    is no such worker, or that is not the last link that was made.
    """
    own = (
        Candidate.objects.select_related("run__question_set")
        .defer("run__memory", "run__proof")
        .filter(pk=candidate_id, links=link)
        .first()
    )
    if own is None:
        return None
    if own.run.status == Run.Status.ENDED:
        return WorkPage("over", instructions=SafeString(), answered=0)
    run, candidates = own.run, _in_all_skills(own)
    presence.note(run, [one.pk for one in candidates], own.seen)
    row = _next_question(run, candidates)
    question_set = run.skills[row.skill if row else 0].question_set
    shown = (row.prompt, *row.choices) if row else ()
    texts = Texts.of(question_set, question_set.instructions, *shown)
    return WorkPage(
        state="question" if row else _idle(run, candidates),
        instructions=texts.html(question_set.instructions),
        # Without a response are those that lapsed, and those of retired questions.
        answered=Answer.objects.filter(assignment__candidate__in=candidates)
        .exclude(response="")
        .count(),
        question=_open(row, texts) if row else None,
        gone=next((one.gone for one in candidates if one.gone), ""),
        may_leave=bool(_asked(run, candidates)),
    )


def _in_all_skills(own: Candidate) -> list[Candidate]:
    if not own.run.several:
        return [own]
    return list(Candidate.objects.filter(run=own.run_id, worker=own.worker_id))


def _asked(run: Run, candidates: list[Candidate]) -> list[Candidate]:
    """The skills in which this worker may still be asked."""
    if run.recorded_only:
        return []
    undecided = Candidate.Verdicts.UNDECIDED
    return [one for one in candidates if one.verdict == undecided and not one.gone]


def _open(row: "_Row", texts: Texts) -> OpenQuestion:
    assert row.due is not None  # it is shown
    kind = kind_of(row.choices, row.grading)
    return OpenQuestion(row.assignment, row.prompt, row.choices, row.due, kind, texts)


def _next_question(run: Run, candidates: list[Candidate]) -> "_Row | None":
    """The oldest question out with this worker, also in a pause: answers are taken then too."""
    asked = _asked(run, candidates)
    row = _oldest(asked)
    if row is not None and row.due is None:
        presence.show(run, [row.assignment])
        row = _oldest(asked)  # it may have been taken back in this very moment
    return row if row is not None and row.due is not None else None


class _Row(NamedTuple):
    skill: int
    assignment: int
    prompt: str
    choices: list[str]
    grading: dict[str, Any]
    due: datetime | None


def _oldest(candidates: list[Candidate]) -> _Row | None:
    found = (
        Assignment.objects.answerable()
        .filter(candidate__in=candidates)
        .order_by("step", "position", "id")
        .values_list(
            "candidate__skill",
            "id",
            "question__prompt",
            "question__choices",
            "question__grading",
            "due",
        )
        .first()
    )
    return _Row(*found) if found else None


def _idle(run: Run, candidates: list[Candidate]) -> State:
    asked = _asked(run, candidates)
    if not asked and any(one.gone for one in candidates):
        return "gone"
    if all(one.asked >= run.skills[one.skill].deck_size for one in asked):
        return "done"
    return "paused" if run.status == Run.Status.PAUSED else "wait"

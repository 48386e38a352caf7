"""What a worker's own page shows: nothing that grades, and nothing of anybody else."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NamedTuple

from django.db.models import Exists, OuterRef
from django.utils.safestring import SafeString

from selection import db_clock
from selection.answers import presence
from selection.grading.rules import kind_of
from selection.models import Answer, Assignment, Candidate, Practice, Question, Run, exposure
from selection.models.answers import is_given
from selection.models.gradable import Gradable
from selection.questions import practice

from . import end_texts as ending
from .end_texts import EndText
from .sanitize import QuestionTexts

State = Literal["practice", "question", "wait", "paused", "gone", "done", "over"]


@dataclass(frozen=True)
class WorkPage:
    """question is the one to answer now: set if and only if state is "question" or "practice".

    In the state "over" the run has ended and the link with it: the code, what was answered and
    earned, and what happens next are told then.

    most       how many questions there are at most
    gone       why the worker takes part no more, if so
    may_leave  whether there is something to leave
    """

    state: State
    ending: EndText
    instructions: str = ""
    answered: int = 0
    most: int = 0
    question: "OpenQuestion | None" = None
    gone: str = ""
    may_leave: bool = False

    @property
    def number(self) -> int:
        """Of the question that is shown."""
        return min(self.answered + 1, self.most)


@dataclass(frozen=True)
class OpenQuestion:
    """assignment  its id, or that of the practice question
    kind        one of grading.KINDS
    due         None for practice, which takes as long as it takes
    said        what was sent and could not be taken, so that nobody has to write it again
    """

    assignment: int
    prompt: str
    choices: list[str]
    due: datetime | None
    kind: str
    texts: QuestionTexts = QuestionTexts.NONE
    said: tuple[str, ...] = ()

    @cached_property
    def seconds_left(self) -> int | None:
        """When it was first asked for: a page says it several times."""
        if self.due is None:
            return None
        return max(0, int((self.due - db_clock.database_now()).total_seconds()))

    @property
    def shown(self) -> SafeString:
        return self.texts.html(self.prompt)

    @property
    def choosing(self) -> list[tuple[str, SafeString, bool]]:
        """Each choice, how it is shown, and whether it was said."""
        return [(one, self.texts.choice(one), one in self.said) for one in self.choices]

    @property
    def places(self) -> list[tuple[int, str]]:
        """Of what is to be put in order: each place, and what was said to come there."""
        count = len(self.choices)
        return list(enumerate([*self.said, *[""] * count][:count], 1))

    @property
    def typed_at_once(self) -> bool:
        """Whether there is nothing to look at first, so that one may begin to type."""
        return "<img" not in self.shown and "<video" not in self.shown


def visit_page(candidate_id: int, link: int = 0) -> WorkPage | None:
    """This candidate's worker looks at their page, in all skills, by their link of this number.

    It notes that they are there, and starts the clock of the question that it shows. None if there
    is no such worker, or that is not the last link that was made.
    """
    own = _candidate_of_link(candidate_id, link)
    if own is None:
        return None
    run, candidates = own.run, _candidates_in_all_skills(own)
    answered = _count_paid(candidates)
    gone = next((one.gone for one in candidates if one.gone), "")
    if run.status == Run.Status.ENDED:
        return WorkPage("over", ending.end_text(own, "over", answered, gone), answered=answered)
    presence.note_presence(run, [one.pk for one in candidates], own.seen)
    row = _oldest_assignment(_askable_candidates(run, candidates))
    lesson = _pending_practice(own, candidates, row)
    if lesson is None:
        row = _show_next(run, candidates, row)
    state: State = "practice" if lesson else "question" if row else idle_state(run, candidates)
    question_set = run.skills[row.skill if row else 0].question_set
    if lesson is not None:
        question_set = lesson.question_set
    asked = lesson or row
    shown = (asked.prompt, *asked.choices) if asked else ()
    texts = QuestionTexts.of(question_set, question_set.instructions, *shown)
    return WorkPage(
        state=state,
        ending=ending.end_text(own, state, answered, gone),
        instructions=texts.html(question_set.instructions),
        answered=answered,
        most=sum(run.skills[one.skill].deck_size - one.skipped for one in candidates),
        question=_open_question(asked, texts) if asked else None,
        gone=gone,
        may_leave=bool(_askable_candidates(run, candidates)),
    )


def preview_question(question: Question) -> tuple[OpenQuestion, SafeString]:
    """A gold question as it would be shown, and the instructions above it."""
    question_set = question.question_set
    said = (question_set.instructions, question.prompt, *question.choices)
    texts = QuestionTexts.of(question_set, *said)
    return _open_question(question, texts), texts.html(question_set.instructions)


def _candidate_of_link(candidate_id: int, link: int) -> Candidate | None:
    practised = Practice.objects.filter(question_set=OuterRef("run__question_set"))
    return (
        Candidate.objects.select_related("run__question_set")
        .defer("run__memory", "run__proof")
        .annotate(practises=Exists(practised))
        .filter(pk=candidate_id, links=link)
        .first()
    )


def _pending_practice(
    own: Any, candidates: list[Candidate], row: "_OpenAssignment | None"
) -> Practice | None:
    """What is to be practised before the first gold question of a skill is shown."""
    run, asked = own.run, _askable_candidates(own.run, candidates)
    if not asked or not (own.practises or run.several) or (row and row.due):
        return None
    number = row.skill if row else asked[0].skill
    mine = next(one for one in asked if one.skill == number)
    if mine.pulls + mine.void or (row is None and idle_state(run, candidates) == "done"):
        return None
    return practice.pending_practice(run.skills[number].question_set, run, own.worker_id)


def _candidates_in_all_skills(own: Candidate) -> list[Candidate]:
    if not own.run.several:
        return [own]
    return list(Candidate.objects.filter(run=own.run_id, worker=own.worker_id))


def _count_paid(candidates: list[Candidate]) -> int:
    """What is paid: not those that lapsed. Responses may have been deleted since."""
    return Answer.objects.filter(is_given(), assignment__candidate__in=candidates).count()


def _askable_candidates(run: Run, candidates: list[Candidate]) -> list[Candidate]:
    """The skills in which this worker may still be asked."""
    if run.recorded_only:  # what a worker was shown before the run was switched to this
        shown = Assignment.objects.open().filter(candidate__in=candidates).exclude(due=None)
        held = set(shown.values_list("candidate_id", flat=True))
        candidates = [one for one in candidates if one.pk in held]
    undecided = Candidate.Verdicts.UNDECIDED
    return [one for one in candidates if one.verdict == undecided and not one.gone]


def _open_question(asked: "_OpenAssignment | Gradable", texts: QuestionTexts) -> OpenQuestion:
    pk, due = (asked.pk, None) if isinstance(asked, Gradable) else (asked.assignment, asked.due)
    kind = kind_of(asked.choices, asked.grading)
    return OpenQuestion(pk, asked.prompt, asked.choices, due, kind, texts)


def _show_next(
    run: Run, candidates: list[Candidate], row: "_OpenAssignment | None"
) -> "_OpenAssignment | None":
    """The oldest question out with this worker, also in a pause: answers are taken then too."""
    if row is not None and row.due is None:
        presence.record_shown(run, [row.assignment])
        row = _oldest_assignment(
            _askable_candidates(run, candidates)
        )  # it may have been taken back in this very moment
    return row if row is not None and row.due is not None else None


class _OpenAssignment(NamedTuple):
    skill: int
    assignment: int
    prompt: str
    choices: list[str]
    grading: dict[str, Any]
    due: datetime | None


def _oldest_assignment(candidates: list[Candidate]) -> _OpenAssignment | None:
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
    return _OpenAssignment(*found) if found else None


def idle_state(run: Run, candidates: list[Candidate]) -> State:
    """Why there is no question for these candidates of one worker."""
    asked = _askable_candidates(run, candidates)
    if not asked and any(one.gone for one in candidates):
        return "gone"
    if all(_has_met_all(run, one) for one in asked):
        return "done"
    return "paused" if run.status == Run.Status.PAUSED else "wait"


def _has_met_all(run: Run, own: Candidate) -> bool:
    """Whether there is no question left, but those that as many others met as may."""
    skill = run.skills[own.skill]
    left = skill.deck_size - own.skipped - own.asked
    return left <= 0 or (run.rationed and left <= exposure.closed_for_good(own, skill))

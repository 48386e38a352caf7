"""Content of the worker's page: no grades, and no data of other workers."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NamedTuple

from django.db.models import Exists, OuterRef
from django.utils.safestring import SafeString

from selection import db_clock
from selection.answers import presence
from selection.facts import Facts
from selection.grading.rules import is_none, kind_of
from selection.models import Answer, Assignment, Candidate, Practice, Question, Run, exposure
from selection.models.answers import is_given
from selection.models.questions import Gradable
from selection.questions import practice
from selection.questions.sanitize import QuestionTexts

from . import end_texts

State = Literal["start", "practice", "question", "wait", "paused", "gone", "done", "over"]


@dataclass(frozen=True)
class WorkPage:
    """State of the page. question is set if and only if state is "question" or "practice".

    In the state "start" a question waits, and its clock begins when the worker asks to see it.

    In the state "over" the run has ended, and the link with it: the page shows code, number of
    answers, earnings and next steps.

    most       upper bound on the number of questions
    gone       reason if the worker no longer takes part
    may_leave  True if the worker can still leave
    minutes    time to answer a question
    """

    state: State
    ending: Facts
    instructions: str = ""
    answered: int = 0
    most: int = 0
    question: "OpenQuestion | None" = None
    gone: str = ""
    may_leave: bool = False
    minutes: int = 0

    @property
    def number(self) -> int:
        """Number of the question shown, from 1."""
        return min(self.answered + 1, self.most)


@dataclass(frozen=True)
class OpenQuestion:
    """A question to answer now.

    assignment  its id, or that of the practice question
    kind        a key of grading.KINDS
    due         None for practice, which has no deadline
    said        a response that could not be recorded, kept so that it need not be written again
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
        """Seconds left at the first access, cached so that the page is consistent."""
        if self.due is None:
            return None
        return max(0, int((self.due - db_clock.database_now()).total_seconds()))

    @property
    def prompt_html(self) -> SafeString:
        return self.texts.html(self.prompt)

    @property
    def choosing(self) -> list[tuple[str, SafeString, bool, bool]]:
        """Choices: each as text, as HTML, if it was chosen, and if it excludes all others."""
        return [
            (choice, self.texts.choice(choice), choice in self.said, is_none(choice))
            for choice in self.choices
        ]

    @property
    def places(self) -> list[tuple[int, str]]:
        """Places of an order to fill in: each number, and the entry made there."""
        count = len(self.choices)
        return list(enumerate([*self.said, *[""] * count][:count], 1))

    @property
    def typed_at_once(self) -> bool:
        """True if there is no picture or film to look at first: then the input gets the focus."""
        return "<img" not in self.prompt_html and "<video" not in self.prompt_html


def visit_page(candidate_id: int, link: int = 0, acting: bool = True) -> WorkPage | None:
    """Build the page of this candidate's worker, in all skills, for their link of this number.

    If the worker acts, the visit is recorded, and starts the clock of the question shown; else it
    may be a machine's, and changes nothing. None if there is no such worker, or the link is not the
    latest.
    """
    candidate = _candidate_of_link(candidate_id, link)
    if candidate is None:
        return None
    run, candidates = candidate.run, _candidates_in_all_skills(candidate)
    answered = Answer.objects.filter(is_given(), assignment__candidate__in=candidates).count()
    reason = next((entry.gone for entry in candidates if entry.gone), "")
    if run.status == Run.Status.ENDED:
        return WorkPage(
            "over", end_texts.end_text(candidate, "over", answered, reason), answered=answered
        )
    if acting:
        presence.note_presence(run, [entry.pk for entry in candidates], candidate.seen)
    row = _oldest_assignment(_askable_candidates(run, candidates))
    lesson = _pending_practice(candidate, candidates, row)
    is_hidden = not acting and lesson is None and (row is None or row.due is None)
    if lesson is None:
        row = _show_next(run, candidates, row) if not is_hidden else row
    state: State = "practice" if lesson else "question" if row else idle_state(run, candidates)
    if is_hidden and (row or (state == "wait" and candidate.seen is None)):
        state, row = "start", None
    question_set = run.skills[row.skill if row else 0].question_set
    if lesson is not None:
        question_set = lesson.question_set
    item = lesson or row
    item_texts = (item.prompt, *item.choices) if item else ()
    texts = QuestionTexts.load(question_set, question_set.instructions, *item_texts)
    return WorkPage(
        state=state,
        ending=end_texts.end_text(candidate, state, answered, reason),
        instructions=texts.html(question_set.instructions),
        answered=answered,
        most=sum(run.skills[entry.skill].deck_size - entry.skipped for entry in candidates),
        question=_open_question(item, texts) if item else None,
        gone=reason,
        may_leave=bool(_askable_candidates(run, candidates)),
        minutes=run.minutes,
    )


def preview_question(question: Question | Practice) -> tuple[OpenQuestion, SafeString]:
    question_set = question.question_set
    parts = (question_set.instructions, question.prompt, *question.choices)
    texts = QuestionTexts.load(question_set, *parts)
    return _open_question(question, texts), texts.html(question_set.instructions)


def _candidate_of_link(candidate_id: int, link: int) -> Candidate | None:
    practice_questions = Practice.objects.filter(question_set=OuterRef("run__question_set"))
    return (
        Candidate.objects.select_related("run__question_set")
        .defer("run__memory", "run__best_guarantee")
        .annotate(practises=Exists(practice_questions))
        .filter(pk=candidate_id, link_version=link)
        .first()
    )


def _pending_practice(
    candidate: Any, candidates: list[Candidate], row: "_OpenAssignment | None"
) -> Practice | None:
    """Find the practice question due before the first gold question of a skill, or None."""
    run, askable = candidate.run, _askable_candidates(candidate.run, candidates)
    if not askable or not (candidate.practises or run.several) or (row and row.due):
        return None
    number = row.skill if row else askable[0].skill
    first = next(entry for entry in askable if entry.skill == number)
    if first.pulls + first.void or (row is None and idle_state(run, candidates) == "done"):
        return None
    return practice.pending_practice(run.skills[number].question_set, run, candidate.worker_id)


def _candidates_in_all_skills(candidate: Candidate) -> list[Candidate]:
    if not candidate.run.several:
        return [candidate]
    return list(Candidate.objects.filter(run=candidate.run_id, worker=candidate.worker_id))


def _askable_candidates(run: Run, candidates: list[Candidate]) -> list[Candidate]:
    if run.recorded_only:  # only questions shown before the run became recorded-only
        assignments = Assignment.objects.open().filter(candidate__in=candidates).exclude(due=None)
        candidate_ids = set(assignments.values_list("candidate_id", flat=True))
        candidates = [candidate for candidate in candidates if candidate.pk in candidate_ids]
    undecided = Candidate.Verdicts.UNDECIDED
    return [
        candidate
        for candidate in candidates
        if candidate.verdict == undecided and not candidate.gone
    ]


def _open_question(item: "_OpenAssignment | Gradable", texts: QuestionTexts) -> OpenQuestion:
    pk, due = (item.pk, None) if isinstance(item, Gradable) else (item.assignment, item.due)
    kind = kind_of(item.choices, item.grading)
    return OpenQuestion(pk, item.prompt, item.choices, due, kind, texts)


def _show_next(
    run: Run, candidates: list[Candidate], row: "_OpenAssignment | None"
) -> "_OpenAssignment | None":
    """Find the oldest open question and start its clock, even during a pause.

    Answers are accepted in a pause as well.
    """
    if row is not None and row.due is None:
        presence.record_shown(run, [row.assignment])
        # Read again: the assignment may have been withdrawn meanwhile.
        row = _oldest_assignment(_askable_candidates(run, candidates))
    return row if row is not None and row.due is not None else None


class _OpenAssignment(NamedTuple):
    skill: int
    assignment: int
    prompt: str
    choices: list[str]
    grading: dict[str, Any]
    due: datetime | None


def _oldest_assignment(candidates: list[Candidate]) -> _OpenAssignment | None:
    row = (
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
    return _OpenAssignment(*row) if row else None


def idle_state(run: Run, candidates: list[Candidate]) -> State:
    """Find the reason that these candidates of a worker have no question."""
    askable = _askable_candidates(run, candidates)
    if not askable and any(candidate.gone for candidate in candidates):
        return "gone"
    if all(_has_met_all(run, candidate) for candidate in askable):
        return "done"
    return "paused" if run.status == Run.Status.PAUSED else "wait"


def _has_met_all(run: Run, candidate: Candidate) -> bool:
    """Tell if every remaining question has reached its exposure limit."""
    skill = run.skills[candidate.skill]
    rest = skill.deck_size - candidate.skipped - candidate.asked
    return rest <= 0 or (run.rationed and rest <= exposure.closed_for_good(candidate, skill))

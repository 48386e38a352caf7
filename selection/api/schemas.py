"""Schemas shared by several endpoints."""

from datetime import datetime
from typing import Literal

from ninja import Field, Schema

from selection import reports
from selection.limits import (
    LONGEST_KEY,
    LONGEST_RESPONSE,
    LONGEST_WHY,
    MOST_ANSWERS,
    MOST_ENTRIES,
    MOST_IMPORTED,
    MOST_PRESENT,
)

from .fields import Attributes, Id, Key, declared_by
from .pagination import LONGEST_CURSOR, Page


class AssignmentOut(Schema):
    """A question to answer. It never has the correct answer."""

    id: int
    worker: str
    skill: str
    question: str
    prompt: str
    kind: str = Field(
        description="single, multiple, order, text or number. The response to multiple and order "
        "is the choices, separated by |."
    )
    choices: list[str]
    due_at: datetime | None = Field(
        alias="due", description="Deadline. The time begins when the question is first fetched."
    )


class OpenQuery(Page):
    worker: str | None = Field(None, max_length=LONGEST_KEY, description="Only this worker's.")
    after_id: int = Field(0, ge=0, description="Only assignments with a greater id, like a cursor.")
    peek: bool = Field(False, description="Only look: the time to answer does not start.")


class ClaimIn(Schema):
    workers: list[Key] = Field(
        min_length=1,
        max_length=MOST_PRESENT,
        description="Ids of the workers present now.",
        examples=[["A1B2C3"]],
    )
    questions_per_worker: int = Field(
        1, ge=1, le=MOST_PRESENT, description="Most questions for each worker."
    )


class ClaimOut(Schema):
    """A present worker's state and open questions.

    The state is question; wait: ask again in a few seconds; paused; done: all questions are
    answered, or the worker is judged; gone: the worker left or was withdrawn; over: the run has
    ended; unknown: the run has no such worker.
    """

    worker: str
    state: Literal["question", "wait", "paused", "done", "gone", "over", "unknown"]
    assignments: list[AssignmentOut]


class ResponseIn(Schema):
    response: str = Field(
        description="As the worker gave it.",
        examples=["42"],
        json_schema_extra={"maxLength": LONGEST_RESPONSE},
    )


class ReceiptOut(Schema):
    """Receipt for a response; it never tells if the response was right."""

    assignment: int
    duplicate: bool = Field(description="True if the assignment had been closed before.")
    kept: bool = Field(description="False if the question was retired before the answer came.")


class BatchRowIn(Schema):
    assignment: Id
    response: str = Field(examples=["42"])


class BatchIn(Schema):
    answers: list[BatchRowIn] = Field(min_length=1, max_length=MOST_ANSWERS)


class BatchRowOut(Schema):
    """The result that the response would have got in a request of its own."""

    assignment: int
    status: int = Field(description="200, 201, 404, 409 or 422.", examples=[201])
    kept: bool = Field(
        False, description="True if the answer was stored; false if the question was retired."
    )
    error: str = Field("", description="Reason if the answer was refused.")


class BatchOut(Schema):
    new_answers: int = Field(description="Number of new answers.")
    results: list[BatchRowOut] = Field(description="In the order of the request.")


class AnswerIn(Schema):
    worker: str
    question: str
    response: str
    skill: str = Field("", description="Required if several skills have a question with this id.")


class AnswersIn(Schema):
    answers: list[AnswerIn] = Field(max_length=MOST_IMPORTED)
    on_mismatch: Literal["refuse", "wrong"] = Field(
        "refuse",
        description="An answer that is not among the choices is listed in the problems (refuse), "
        "or counts as wrong (wrong).",
    )


class ReasonIn(Schema):
    reason: str = Field("", max_length=LONGEST_WHY, description="Kept in the run's history.")


class VerdictIn(ReasonIn):
    verdict: Literal["accepted", "rejected"] | None = Field(
        description="null removes a verdict by hand; accepted and rejected need a reason."
    )


class WorkerIn(Schema):
    worker: str = Field(description="Id on your platform; unique in the pool.", examples=["A1B2C3"])
    name: str = Field("", max_length=LONGEST_KEY, examples=["Ada"])
    attributes: Attributes = Field(
        {}, description="For quotas, and for you.", examples=[{"language": "English"}]
    )


class RunWorkersQuery(Schema):
    cursor: str = Field("", max_length=LONGEST_CURSOR, description="As in the header Link.")
    limit: int | None = Field(None, ge=1, le=MOST_ENTRIES, description="null: all workers.")
    search: str = Field(
        "", max_length=LONGEST_KEY, description="Only workers with this text in id or name."
    )


@declared_by(reports.UncountedAnswers)
class UncountedOut(Schema):
    """Answers that were given and do not count, for one reason."""


class LinksOut(Schema):
    replaced: int = Field(description="Number of workers with a new link.")
    join_link: str


class WorkerOut(Schema):
    """A worker of a run."""

    worker: str
    name: str
    presence: str = Field(
        description="invited, active, never came, left, withdrawn or did not pass the practice."
    )
    last_seen_at: datetime | None = Field(alias="seen")
    by_hand: str
    link: str = Field(
        description="Personal link; empty without the scope to manage, because the link gives "
        "access to the worker's questions."
    )


class EventOut(Schema):
    created_at: datetime = Field(alias="at")
    actor: str = Field(alias="who")
    kind: str
    text: str = Field(alias="what")
    reason: str = Field(alias="why")
    step: int


class StepOut(Schema):
    number: int
    created_at: datetime = Field(alias="at")
    applied: int
    dealt: int
    accepted: int
    rejected: int
    gap: float


class HistoryOut(Schema):
    """Actions of people, newest first, and the engine's steps, thinned to at most 200."""

    events: list[EventOut]
    steps: list[StepOut]


class ProblemOut(Schema):
    row: int
    reason: str = Field(alias="why")


class TakenOut(Schema):
    """Counts of imported answers. recorded: to open assignments; waiting: kept until asked for."""

    recorded_answers: int
    waiting_answers: int
    problems: list[ProblemOut]

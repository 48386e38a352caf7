"""What goes over the wire."""

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from ninja import Field, Schema


class SkillOut(Schema):
    """A question set that workers are tested on, and how many are selected by it."""

    skill: str
    k: int


class NeedOut(Schema):
    """kind: stuck, gold, quiet, joins, paused, broken, fit, sharing or review."""

    kind: str
    words: str


class EverybodyOut(Schema):
    """What a test of everybody alike would take, with as many questions as one worker gets."""

    questions: int = Field(description="Of each worker: as many as the one asked most will have.")
    answers: int
    cost: float | None
    epsilon: float = Field(
        description="How far off the best K by share of right answers may be, with probability "
        "1 − δ, by simulation; nobody promises it."
    )


class AheadOut(Schema):
    """What a run that goes on will still take, as simulated from where it stands."""

    why: str = Field(description="Why nothing can be said yet; empty if something can.")
    paid: int = Field(description="Answers given so far.")
    committed: int = Field(description="Answers that are out with the crowd.")
    paid_cost: float | None
    committed_cost: float | None
    answers: tuple[int, int, int] | None = Field(
        description="Still to come, those that are out included: low, median, high; in four cases "
        "of five it is between low and high."
    )
    cost: tuple[float, float, float] | None = Field(description="The same in money.")
    total: tuple[int, int, int] | None = Field(description="Answers in all at the end.")
    kept: float | None = Field(description="Share of simulated runs that keep the promise.")
    runs: int = Field(description="How many were simulated.")
    epsilon: float | None = Field(
        description="The ε that holds in the middle of those that end early; null if none does."
    )
    time: str = Field(description="How long it takes at the present speed, in words.")
    hours: float | None = Field(description="At most so long; null if it is too early to say.")
    everybody: EverybodyOut | None
    at: datetime | None = Field(description="When it was simulated.")


class RunOut(Schema):
    id: int
    name: str
    status: str
    state: str = Field(
        description="By what is to be done next: draft, enrolling, running, paused, ready for "
        "review, concluded."
    )
    ending: str
    algorithm: str
    k: int
    epsilon: float
    delta: float
    budget: int | None
    price: float | None = Field(description="What an answer costs.")
    currency: str
    slots: int
    slots_per_worker: int
    minutes: int
    hours_to_come: float | None
    enrolling: bool = Field(description="Whether workers may join.")
    enrol_until: datetime | None
    enrol_most: int | None
    seed: int
    options: dict[str, Any]
    learned_from: dict[str, Any] | None = Field(
        description="The earlier run that this one starts from, and how much that weighs."
    )
    quotas: dict[str, Any]
    skills: list[SkillOut]
    one_kind_each: bool = Field(
        description="Whether each worker is selected for at most one of several question sets."
    )
    promise: str
    over: str = Field(description="Whom the promise is about, where that is not the whole pool.")
    by_hand: str = Field(description="What verdicts by hand do to the promise.")
    epsilon_reached: float | None = Field(
        description="The ε of the promise that holds by now, or held at the end."
    )
    warnings: list[str] = Field(description="What makes the promise doubtful for this pool.")
    population: dict[str, float] | None = Field(
        description="As fitted to the pool: mean and spread of the accuracies, the border that K "
        "workers are expected to exceed, the p-value of the check."
    )
    progress: dict[str, Any]
    forecast: AheadOut | None = Field(
        description="What is still to come; null before the start and after the end."
    )
    needs: list[NeedOut] = Field(description="What a person should see to; mostly nothing.")


class AssignmentOut(Schema):
    """A question to answer. It never carries the correct answer."""

    id: int
    worker: str
    skill: str
    question: str
    prompt: str
    kind: str = Field(
        description="single, multiple, order, text or number. Of multiple and order the response "
        "is the choices with | between them."
    )
    choices: list[str]
    due: datetime | None = Field(
        description="When time is up; it runs from when this question was first fetched."
    )


class OpenQuery(Schema):
    worker: str | None = Field(None, description="Only this worker's.")
    limit: int = Field(100, ge=1, le=1000)
    after: int = Field(0, ge=0, description="Only assignments with a greater id.")
    peek: bool = Field(False, description="Only look: nobody's time to answer begins.")


class ResponseIn(Schema):
    response: str


class ReceiptOut(Schema):
    assignment: int
    duplicate: bool


class AnswerIn(Schema):
    worker: str
    question: str
    response: str
    skill: str = Field("", description="Needed where several skills have such a question.")


class AnswersIn(Schema):
    answers: list[AnswerIn] = Field(max_length=100_000)
    outside: Literal["refuse", "wrong"] = Field(
        "refuse",
        description="What becomes of an answer that is none of the question's choices: named among "
        "the problems, or counted as wrong.",
    )


class ChangeIn(Schema):
    """The settings to change; those that are left out stay."""

    name: str | None = None
    budget: int | None = Field(None, description="null: no limit.")
    price: Decimal | None = Field(None, description="Of an answer, at any time. null: not known.")
    currency: str | None = None
    slots: int | None = None
    slots_per_worker: int | None = None
    minutes: int | None = None
    hours_to_come: float | None = Field(None, description="null: everybody is waited for.")
    epsilon: float | None = None
    enrol_until: datetime | None = None
    enrol_most: int | None = None
    enrolling: bool | None = Field(None, description="Open or close the roster.")
    concluded: bool | None = Field(None, description="Put an ended run aside, or take it up.")
    why: str = Field("", max_length=300, description="Kept in the run's history.")
    preview: bool = Field(False, description="Only say what it would do.")


class ChangedOut(Schema):
    changed: dict[str, str] = Field(description="What each setting does to the promise, in words.")
    run: RunOut


class WhyIn(Schema):
    why: str = Field("", max_length=300, description="Kept in the run's history.")


class VerdictIn(WhyIn):
    verdict: Literal["accepted", "rejected"] | None = Field(
        description="null takes a verdict by hand back; others need a reason."
    )


class WorkerIn(Schema):
    worker: str
    name: str = ""
    attributes: dict[str, str] = {}


class WorkerOut(Schema):
    """A worker of a run."""

    worker: str
    name: str
    presence: str = Field(
        description="invited, active, never came, left, withdrawn or did not pass the practice."
    )
    seen: datetime | None
    by_hand: str
    link: str = Field(
        description="Empty for a token that does not manage: who has it answers as the worker."
    )


class EventOut(Schema):
    at: datetime
    who: str
    kind: str
    what: str
    why: str
    step: int


class StepOut(Schema):
    number: int
    at: datetime
    applied: int
    dealt: int
    accepted: int
    rejected: int
    gap: float


class HistoryOut(Schema):
    """What people did, newest first, and the engine's steps, thinned to at most 200."""

    events: list[EventOut]
    steps: list[StepOut]


class ProblemOut(Schema):
    row: int
    why: str


class TakenOut(Schema):
    """now: answered an open assignment; waiting: kept until the algorithm asks for it."""

    now: int
    waiting: int
    problems: list[ProblemOut]

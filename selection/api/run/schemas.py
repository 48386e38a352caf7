"""Schemas of a run: its state and its changes."""

from datetime import datetime
from decimal import Decimal

from ninja import Field, Schema

from selection import reports
from selection.api.fields import Value, Yes, declared_by, price_field
from selection.api.schemas import WhyIn
from selection.limits import LONGEST_WHY
from selection.runs.void_budget import VoidBudget


class SkillOut(Schema):
    """A question set that workers are tested on, and the number selected by it."""

    skill: str
    k: int


@declared_by(reports.Alert)
class NeedOut(Schema):
    """An alert. kind: stuck, waits, gold, quiet, joins, paused, broken, fit, sharing or review."""


@declared_by(reports.FullTestForecast)
class EverybodyOut(Schema):
    """Cost of testing all workers alike, with the number of questions of the busiest worker."""


@declared_by(reports.RunningForecast)
class AheadOut(Schema):
    """Forecast of a running run, simulated from its current state."""

    everybody: EverybodyOut | None


@declared_by(reports.Progress)
class ProgressOut(Schema):
    """Progress of a run. It stops when gap falls to wanted; both are differences of accuracy."""


@declared_by(VoidBudget)
class WastedOut(Schema):
    """Budget spent on answers to questions retired later: they are paid, but do not count."""


class PopulationOut(Schema):
    """The distribution fitted to the pool.

    Mean and spread of the accuracies, the border that K workers are expected to exceed, and the
    p-value of the check.
    """

    mean: float
    spread: float
    border: float
    p_value: float


class LearnedOut(Schema):
    """The earlier run that a run starts from; unknown names are empty."""

    run: str
    pool: str
    question_set: str
    workers: int
    answers: int
    counts_as: int = Field(description="Its weight, as a number of workers.")


class QuotasAskedOut(Schema):
    """Minimum and maximum number of selected workers per value of a worker attribute."""

    attribute: str
    limits: dict[str, tuple[int | None, int | None]] = Field(
        description="By value: the least and the most; null: no limit."
    )


class RunOut(Schema):
    """A run in its current state."""

    id: int = Field(examples=[1])
    name: str = Field(examples=["Best 3 of spring"])
    pool: int = Field(description="Its id.")
    question_set: int = Field(description="Its id.")
    status: str = Field(description="draft, running, paused or ended.")
    state: str = Field(
        description="By what is to be done next: draft, enrolling, running, paused, ready for "
        "review, concluded."
    )
    ending: str = Field(
        description="Why it ended: promise, budget, questions, stopped, roster or regraded."
    )
    created: datetime
    started: datetime | None
    ended: datetime | None
    algorithm: str
    k: int
    epsilon: float
    delta: float
    budget: int | None
    price: float | None = Field(description="Cost of an answer.")
    currency: str
    slots: int
    slots_per_worker: int
    minutes: int
    hours_to_come: float | None
    enrolling: bool = Field(description="Whether workers may join.")
    enrol_until: datetime | None
    enrol_most: int | None
    join_link: str = Field(
        description="The one link for all who may join; empty for a token that does not manage."
    )
    recorded_only: bool = Field(description="True if only imported answers are used.")
    met: str = Field(
        description="What becomes of questions that a worker met in another run (skip, out, again)."
    )
    only: list[str] = Field(description="Ids of the admitted workers; empty: all.")
    left_out: list[str] = Field(description="Ids of the excluded workers.")
    seed: int
    options: dict[str, Value] = Field(description="Of the algorithm, those that were set by hand.")
    learned_from: LearnedOut | None = Field(
        description="The earlier run that this one starts from, and how much that weighs."
    )
    quotas: QuotasAskedOut | None
    skills: list[SkillOut]
    one_kind_each: bool = Field(
        description="Whether each worker is selected for at most one of several question sets."
    )
    promise: str
    verdict: str = Field(
        description="At the end: kept, weakened (the sentence says by what), early (it holds for "
        "another ε than was wanted) or none."
    )
    over: str = Field(description="Workers that the promise covers, unless it is the whole pool.")
    by_hand: str = Field(description="Effect of verdicts by hand on the promise.")
    epsilon_reached: float | None = Field(
        description="The ε of the promise that holds by now, or held at the end."
    )
    warnings: list[str] = Field(description="Reasons to doubt the promise for this pool.")
    population: PopulationOut | None = Field(
        description="As fitted to the pool: mean and spread of the accuracies, the border that K "
        "workers are expected to exceed, the p-value of the check."
    )
    progress: ProgressOut
    wasted: WastedOut | None = Field(
        description="What the budget lacks, while a run goes on or where it ended for that; mostly "
        "null. Change the budget to the one that is named to make up for it."
    )
    forecast: AheadOut | None = Field(
        description="Forecast of the rest; null before the start and after the end."
    )
    needs: list[NeedOut] = Field(description="Alerts that need a person; mostly empty.")


class MoveIn(WhyIn, extra="forbid"):
    """The reason for a move; the body may be omitted."""


class ChangeIn(Schema, extra="forbid"):
    """The settings to change; omitted ones stay."""

    name: str | None = None
    budget: int | None = Field(None, description="null: no limit.")
    price: Decimal | None = price_field("Of an answer, at any time. null: not known.")
    currency: str | None = None
    slots: int | None = None
    slots_per_worker: int | None = None
    minutes: int | None = None
    hours_to_come: float | None = Field(None, description="null: no limit.")
    epsilon: float | None = None
    enrol_until: datetime | None = Field(None, description="With its zone.")
    enrol_most: int | None = None
    enrolling: Yes | None = Field(None, description="Open or close the roster.")
    concluded: Yes | None = Field(None, description="Put an ended run aside, or take it up.")
    why: str = Field("", max_length=LONGEST_WHY, description="Kept in the run's history.")
    preview: Yes = Field(False, description="Only return the effects.")


class ChangedOut(Schema):
    changed: dict[str, str] = Field(description="Effect of each setting on the promise, in words.")
    run: RunOut

"""Schemas of a run: its state and its changes."""

from datetime import datetime
from typing import Any

from ninja import Field, Schema

from selection import reports
from selection.api.fields import Value, Yes, build_schema, declared_by
from selection.api.schemas import ReasonIn, UncountedOut
from selection.limits import LONGEST_WHY
from selection.runs.settings.run_settings import RUN_SETTINGS
from selection.runs.void_budget import VoidBudget

from .setting_fields import StrictSchema, change_fields, output_fields

VERDICT = (
    "State of the guarantee at the end: kept, weakened (`guarantee` has the reasons), early (the "
    "achieved ε differs from the target) or none."
)

GUARANTEE = (
    "What is guaranteed now, or was at the end, with all that qualifies it; of a draft, the target."
)
TARGET = "What is guaranteed when the run's rule to stop is met."


class SkillOut(Schema):
    """A question set that workers are tested on, and the number selected by it."""

    skill: str
    k: int


@declared_by(reports.Alert)
class NeedOut(Schema):
    """An alert.

    kind: stuck, waits, gold, quiet, joins, paused, broken, models, tool, fit, sharing or review
    """


class WeakeningOut(Schema):
    """A reason not to rely on the guarantee as it stands, or an assumption that a change added."""

    code: str
    sentence: str
    remedy: str


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


class QuotasAskedOut(Schema):
    """Minimum and maximum number of selected workers per value of a worker attribute."""

    attribute: str
    limits: dict[str, tuple[int | None, int | None]] = Field(
        description="By value: the least and the most; null: no limit."
    )


class RunHead(Schema):
    """The part of a run that lists show, too."""

    id: int = Field(examples=[1])
    name: str = Field(examples=["Best 3 of spring"])
    pool: int = Field(description="Id of the pool.")
    question_set: int = Field(description="Id of the question set.")
    status: str = Field(description="draft, running, paused or ended.")
    state: str = Field(
        description="State by the next action: draft, enrolling, running, paused, ready for review "
        "or archived."
    )
    ending: str = Field(
        description="Reason of the end: guarantee, budget, questions, stopped, roster or regraded."
    )
    created_at: datetime = Field(alias="created")
    started_at: datetime | None = Field(alias="started")
    ended_at: datetime | None = Field(alias="ended")


_other_settings = [setting for setting in RUN_SETTINGS if setting.name not in RunHead.model_fields]
_RunSettings: Any = build_schema("_RunSettings", output_fields(_other_settings), RunHead)


class RunOut(_RunSettings):
    """A run in its current state."""

    join_link: str = Field(
        description="The link for all workers that may join; empty without the scope to manage."
    )
    options: dict[str, Value] = Field(description="Options of the algorithm that were set by hand.")
    quotas: QuotasAskedOut | None
    skills: list[SkillOut]
    guarantee: str = Field(description=GUARANTEE)
    target: str = Field(description=TARGET)
    assumptions: str = Field(description="What both assume.")
    verdict: str = Field(description=VERDICT)
    epsilon_reached: float | None = Field(description="The ε achieved until now or at the end.")
    weakenings: list[WeakeningOut]
    warnings: list[str] = Field(description="Reasons to doubt the guarantee for the pool.")
    population: PopulationOut | None = Field(
        description="Fit to the pool: mean and spread of the accuracies, the accuracy that K "
        "workers are expected to exceed, the p-value of the check."
    )
    progress: ProgressOut
    uncounted: list[UncountedOut] = Field(description="Answers that do not count, by reason.")
    wasted: WastedOut | None = Field(
        description="Budget lost to retired questions, in answers. null without a loss, and if "
        "the run ended for another reason. The named budget makes up for the loss."
    )
    forecast: AheadOut | None = Field(
        description="Forecast of the rest; null before the start and after the end."
    )
    needs: list[NeedOut] = Field(description="Alerts that need a person; mostly empty.")


class MoveIn(ReasonIn, extra="forbid"):
    """The reason for a move; the body may be omitted."""


_SettingsIn: Any = build_schema("_SettingsIn", change_fields(), StrictSchema)


class ChangeIn(_SettingsIn):
    """The settings to change; omitted ones stay."""

    enrolling: Yes | None = Field(None, description="Open or close the roster.")
    archived: Yes | None = Field(None, description="Archive an ended run, or reopen its review.")
    reason: str = Field("", max_length=LONGEST_WHY, description="Kept in the run's history.")
    preview: Yes = Field(False, description="Only return the effects.")


class ChangedOut(Schema):
    changed: dict[str, str] = Field(
        description="Effect of each setting on the guarantee, in words."
    )
    run: RunOut

"""Standings and selection of a run."""

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Schema

from selection import reports
from selection.api.base import api, find_object
from selection.api.fields import Id, declared_by
from selection.api.pagination import LONGEST_CURSOR, paginate_list
from selection.limits import LONGEST_KEY, MOST_ENTRIES
from selection.models import Run
from selection.reports.standings import QuotaStanding

from .schemas import GUARANTEE, TARGET, VERDICT, PopulationOut, WeakeningOut


@declared_by(reports.WorkerStanding)
class LineOut(Schema):
    """A worker's standing in a run; with several skills, in one of them."""


class StandingsQuery(Schema):
    cursor: str = Field("", max_length=LONGEST_CURSOR, description="As in the header Link.")
    limit: int | None = Field(None, ge=1, le=MOST_ENTRIES, description="null: all workers.")
    worker: str = Field("", max_length=LONGEST_KEY, description="Only this worker.")
    selected: bool | None = None
    verdict: (
        Literal["accepted", "rejected", "undecided", "not tested", "settled in", "settled out"]
        | None
    ) = None


class SelectedOut(Schema):
    """A selected worker. group, skill, expected and mark are present if the run has them."""

    rank: int | None
    worker: str
    name: str
    verdict: str
    answers: int
    right: int
    mean: float | None
    lower: float
    upper: float
    group: str = ""
    skill: str = ""
    lapsed: int
    presence: str
    by_hand: str
    by_hand_why: str
    selected_by: str = Field(description="algorithm or hand.")
    expected: float | None = None
    mark: str = ""


@declared_by(QuotaStanding)
class GroupOut(Schema):
    pass


class QuotasOut(Schema):
    attribute: str
    groups: list[GroupOut]


class SkillUsedOut(Schema):
    skill: str
    k: int
    answers_used: int


class SelectionOut(Schema):
    """The selection, with all data to understand and repeat the run."""

    run: str
    pool: str
    question_set: str
    status: str
    ending: str
    regraded_at: str | None
    certified: bool
    verdict: str = Field(description=VERDICT)
    guarantee: str = Field(description=GUARANTEE)
    target: str = Field(description=TARGET)
    assumptions: str
    named_by: str = Field(
        description="Source of the selection: algorithm, guarantee, answers or everybody."
    )
    epsilon_reached: float | None
    scope: str = Field(
        description="every pool, or average over pools like this one; empty without a guarantee."
    )
    pass_mark: float | None
    mean_at_least: float | None = Field(
        description="Mean accuracy that the selected have, with an error probability δ of its own; "
        "null before the end."
    )
    mean_guarantee: str = Field(description="The sentence on this; empty before the end.")
    mark_guarantee: str = Field(
        description="The sentence on the selected and the pass mark; empty before the end and "
        "without a mark."
    )
    weakenings: list[WeakeningOut]
    warnings: list[str]
    population: PopulationOut | None
    algorithm: str
    options: dict[str, Any] = Field(description="Options that were set by hand, by name.")
    quotas: QuotasOut | None
    k: int
    skills: list[SkillUsedOut] | None
    one_kind_each: bool
    epsilon: float
    delta: float
    budget: int | None
    price: float | None
    currency: str
    seed: int
    answers_used: int
    assignments: int = Field(
        description="Number of assignments, except assignments of retired questions."
    )
    started_at: str | None = Field(description="In UTC; null before the start.")
    ended_at: str | None = Field(description="In UTC; null before the end.")
    interval: str = Field(description="The workers and times for which lower and upper hold.")
    workers: list[SelectedOut]
    taken_out_by_hand: list[SelectedOut]


@api.get("/runs/{run_id}/standings", response=list[LineOut])
def show_standings(
    request: HttpRequest, response: HttpResponse, run_id: Id, query: Query[StandingsQuery]
) -> list[dict[str, Any]]:
    """Return every worker's answers, mean, bounds and verdict: selected ones first, best first."""
    filters = query.dict(include={"worker", "selected", "verdict"})
    filters = {name: value for name, value in filters.items() if value not in (None, "")}
    lines = [
        line
        for line in reports.worker_standings(find_object(request, Run, run_id))
        if all(getattr(line, name) == value for name, value in filters.items())
    ]
    rows = paginate_list(
        request, response, lines, query.cursor, query.limit, lambda line: line.candidate
    )
    return [vars(line) for line in rows]


@api.get("/runs/{run_id}/selection", response=SelectionOut, exclude_unset=True)
def show_selection(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return the selected workers, with the run's parameters and guarantee."""
    return reports.export_run(find_object(request, Run, run_id))

"""Standings and selection of a run."""

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema

from selection import reports
from selection.accounts import scoped
from selection.api.base import ERRORS, api
from selection.api.fields import Id
from selection.api.pagination import LONGEST_CURSOR, NEXT, paginate_list
from selection.limits import LONGEST_KEY, MOST_ENTRIES
from selection.models import Run

from .schemas import LearnedOut, PopulationOut


class LineOut(Schema):
    """A worker's standing in a run; with several skills, in one of them."""

    candidate: int = Field(description="A number of the worker in this run and skill.")
    worker: str
    name: str
    answers: int = Field(description="That count.")
    out: int = Field(description="Questions that are out with the worker, or not counted yet.")
    right: float
    mean: float | None = Field(description="Share of right answers; null without an answer.")
    lower: float = Field(description="The accuracy is between lower and upper, as the run says.")
    upper: float
    verdict: str = Field(
        description="accepted, rejected, undecided, settled in or settled out by the present "
        "bounds; not tested: no answer of the worker was counted, or they left before a verdict."
    )
    selected: bool
    decided_in: int | None = Field(description="The step that accepted or rejected.")
    why: str
    presence: str = Field(description="invited, active, never came, left or withdrawn.")
    lapsed: int = Field(description="Answers that were not given in time.")
    by_hand: str = Field(description="The requester's own verdict, if there is one.")
    by_hand_why: str
    by_algorithm: bool = Field(description="True if the algorithm itself selects the worker.")
    group: str = Field(description="Of the quotas' attribute.")
    skill: str
    number: int = Field(description="Of the skill.")
    expected: float | None = Field(
        description="Where the run ended early: the accuracy that all answers make likely."
    )
    elsewhere: str = Field(description="The skill that the worker is selected for instead.")


class StandingsQuery(Schema):
    cursor: str = Field("", max_length=LONGEST_CURSOR, description="As in the header Link.")
    limit: int | None = Field(None, ge=1, le=MOST_ENTRIES, description="null: all of them.")
    worker: str = Field("", max_length=LONGEST_KEY, description="Only this worker.")
    selected: bool | None = None
    verdict: (
        Literal["accepted", "rejected", "undecided", "not tested", "settled in", "settled out"]
        | None
    ) = None


class SelectedOut(Schema):
    """A selected worker. group, skill and expected are present if the run has them."""

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


class GroupOut(Schema):
    group: str
    selected: int
    wanted: str
    workers: int


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
    regraded: str | None
    certified: bool
    verdict: str = Field(
        description="At the end: kept, weakened (the sentence says by what), early (it holds for "
        "another ε than was wanted) or none."
    )
    promise: str
    named_by: str = Field(description="algorithm, proof, answers or everybody.")
    epsilon_reached: float | None
    holds: str
    over: str
    by_hand: str
    warnings: list[str]
    population: PopulationOut | None
    assumptions: str
    algorithm: str
    options: dict[str, Any] = Field(description="Those that were set, by name.")
    learned_from: LearnedOut | None
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
    assignments: int = Field(description="Handed out, but those whose question was retired.")
    started: str | None = Field(description="In UTC; null where it has not begun.")
    ended: str | None = Field(description="In UTC; null where it has not ended.")
    interval: str
    workers: list[SelectedOut]
    taken_out_by_hand: list[SelectedOut]


@api.get(
    "/runs/{run_id}/standings",
    response={200: list[LineOut], **ERRORS},
    tags=["runs"],
    openapi_extra=NEXT,
)
def show_standings(
    request: HttpRequest, response: HttpResponse, run_id: Id, query: Query[StandingsQuery]
) -> list[dict[str, Any]]:
    """Return every worker's answers, mean, bounds and verdict: selected ones first, best first."""
    filters = query.dict(include={"worker", "selected", "verdict"})
    filters = {name: value for name, value in filters.items() if value not in (None, "")}
    lines = [
        line
        for line in reports.worker_standings(get_object_or_404(scoped(Run, request), pk=run_id))
        if all(getattr(line, name) == value for name, value in filters.items())
    ]
    rows = paginate_list(
        request, response, lines, query.cursor, query.limit, lambda line: line.candidate
    )
    return [vars(line) for line in rows]


@api.get(
    "/runs/{run_id}/selection",
    response={200: SelectionOut, **ERRORS},
    tags=["runs"],
    exclude_unset=True,
)
def show_selection(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return the selected workers, with the run's parameters and guarantee."""
    return reports.export_run(get_object_or_404(scoped(Run, request), pk=run_id))

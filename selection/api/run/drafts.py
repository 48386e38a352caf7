"""List of runs, and drafts with all settings of the form."""

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema, Status

from selection.accounts import scoped
from selection.algorithms import ALGORITHMS
from selection.api.base import ERRORS, api, requester_name
from selection.api.fields import Amount, Id, Key, Name, Part, Value, Yes, price_field
from selection.api.idempotency import KEYED, idempotent
from selection.api.pagination import NEXT, Page, paginate
from selection.api.schemas import WhyIn
from selection.history import events
from selection.limits import LONGEST_KEY, MOST_IMPORTED
from selection.models import Pool, QuestionSet, Run, Skill
from selection.runs import copies, drafts, lifecycle, money

from .lifecycle import show_run
from .schemas import RunOut

LONGEST_WAIT_HOURS, LONGEST_MINUTES = 24 * 365, 60 * 24 * 365


class LimitsIn(Part):
    least: int = Field(0, ge=0, le=100_000, examples=[1])
    most: int | None = Field(None, ge=0, le=100_000, description="null: no limit.", examples=[4])


class QuotasIn(Schema):
    """Minimum and maximum number of selected workers per value of a worker attribute."""

    attribute: str = Field(min_length=1, max_length=LONGEST_KEY, examples=["language"])
    limits: dict[str, LimitsIn] = Field(
        min_length=1, max_length=50, description="By value; others are not limited."
    )


class SkillIn(Schema):
    """A further question set, and the number of workers to select by it."""

    question_set: Id
    k: Amount


class RunIn(Schema, extra="forbid"):
    """Settings of a run, with the defaults of its form. Other names are refused as misspelt."""

    name: Name = Field(description="Unique in the team.", examples=["Best 3 of spring"])
    pool: Id = Field(description="Its id.")
    question_set: Id = Field(description="Its id.")
    k: Amount = Field(description="Number of workers to select.", examples=[3])
    algorithm: str = Field(
        "credible",
        description="Its name, as in docs/algorithms.md.",
        json_schema_extra={"enum": list(ALGORITHMS)},
    )
    epsilon: float = Field(
        0.1, ge=0, lt=1, description="How far in accuracy the selection may fall short of the best."
    )
    delta: float = Field(
        0.05, gt=0, lt=1, description="The probability with which the promise may fail."
    )
    budget: Amount | None = Field(None, description="Most assignments in all. null: no limit.")
    price: Decimal | None = price_field("What an answer costs, to four decimal places.")
    currency: str | None = Field(
        None, max_length=10, description="null: that of the run before.", examples=["€"]
    )
    options: dict[str, Value] = Field(
        {}, max_length=50, description="Of the algorithm, by name; see docs/algorithms.md."
    )
    learn_from: Id | None = Field(
        None, description="The id of an ended run whose workers were like these."
    )
    quotas: QuotasIn | None = None
    slots: Amount = Field(100, description="Most assignments that may be out at once.")
    slots_per_worker: Amount = Field(3, description="And with one worker.")
    minutes: int = Field(
        60, ge=1, le=LONGEST_MINUTES, description="To answer, from when a question is shown."
    )
    hours_to_come: float | None = Field(
        48,
        ge=0.05,
        le=LONGEST_WAIT_HOURS,
        description="A worker of whom nothing is seen for so long is not tested any more. null: "
        "everybody is waited for.",
    )
    recorded_only: Yes = Field(False, description="Use imported answers only.")
    enrolling: Yes = Field(False, description="Workers may join until the roster is closed.")
    enrol_until: datetime | None = Field(
        None, description="When the roster closes by itself, with the zone."
    )
    enrol_most: int | None = Field(
        None,
        ge=2,
        le=2**31 - 1,
        description="Number of workers at which the roster closes by itself.",
    )
    met: Literal["skip", "out", "again"] = Field(
        "skip",
        description="What becomes of questions that a worker met in another run: skip (they are "
        "passed over), out (the worker stays out) or again (they may be asked again).",
    )
    only: list[Key] = Field(
        [], max_length=MOST_IMPORTED, description="Ids of the admitted workers; empty: all."
    )
    left_out: list[Key] = Field(
        [], max_length=MOST_IMPORTED, description="Ids of the excluded workers."
    )
    seed: int | None = Field(None, ge=0, le=2**62, description="null: one of its own.")
    skills: list[SkillIn] = Field([], max_length=50, description="Further question sets.")
    one_kind_each: Yes = Field(
        False, description="Each worker is selected for at most one of several question sets."
    )


class CopyIn(WhyIn):
    name: Name | None = Field(None, description="null: the run's own, and “copy”.")
    same_seed: Yes = Field(False, description="The same questions in the same order.")


class RunsQuery(Page):
    status: Literal["draft", "running", "paused", "ended"] | None = None
    pool: Id | None = Field(None, description="Only runs of this pool.")
    name: str = Field(
        "", max_length=LONGEST_KEY, description="Only the run with exactly this name."
    )
    search: str = Field("", max_length=LONGEST_KEY, description="Only with this in the name.")


class RunRowOut(Schema):
    """A run in a list; its own address returns the rest."""

    id: int
    name: str
    status: str
    state: str
    ending: str
    pool: int
    question_set: int
    algorithm: str
    k: int
    created: datetime
    started: datetime | None
    ended: datetime | None


@api.get("/runs", response={200: list[RunRowOut], **ERRORS}, tags=["runs"], openapi_extra=NEXT)
def list_runs(
    request: HttpRequest, response: HttpResponse, query: Query[RunsQuery]
) -> list[dict[str, Any]]:
    """Return the runs, latest first."""
    filters = {"status": query.status, "pool": query.pool, "name": query.name}
    runs = scoped(Run, request).filter(**{name: value for name, value in filters.items() if value})
    if query.search:
        runs = runs.filter(name__icontains=query.search)
    runs = runs.defer("memory", "proof", "options")
    return [_run_payload(run) for run in paginate(request, response, runs, query, by="-pk")]


def _run_payload(run: Run) -> dict[str, Any]:
    row = {name: getattr(run, name, None) for name in RunRowOut.model_fields}
    return row | {"pool": run.pool_id, "question_set": run.question_set_id}


@api.post("/runs", response={201: RunOut, **ERRORS}, tags=["runs"], openapi_extra=KEYED)
@idempotent(RunOut)
def create_run(request: HttpRequest, payload: RunIn) -> dict[str, Any]:
    """Create a run as a draft: no question is asked before it is started."""
    run = lifecycle.create_run(*_build_run(request, payload))
    events.write_event(run, "create", "Made by the API.", requester_name(request))
    return show_run(request, run.pk)


@api.put("/runs/{run_id}", response={200: RunOut, **ERRORS}, tags=["runs"])
def replace_run(request: HttpRequest, run_id: Id, payload: RunIn) -> dict[str, Any]:
    """Replace all settings of a draft; 409 once it has started: use PATCH then."""
    run = get_object_or_404(scoped(Run, request), pk=run_id)
    lifecycle.replace_draft(run, *_build_run(request, payload), who=requester_name(request))
    return show_run(request, run_id)


@api.delete("/runs/{run_id}", response={204: None, **ERRORS}, tags=["runs"])
def delete_run(request: HttpRequest, run_id: Id) -> Status[None]:
    """Delete a run with its answers and verdicts; 409 while it is running or paused."""
    lifecycle.delete_run(get_object_or_404(scoped(Run, request), pk=run_id))
    return Status(204, None)


@api.post(
    "/runs/{run_id}/copy", response={201: RunOut, **ERRORS}, tags=["runs"], openapi_extra=KEYED
)
@idempotent(RunOut)
def copy_run(request: HttpRequest, run_id: Id, payload: CopyIn) -> dict[str, Any]:
    """Create a draft with a run's settings: the way to change fixed settings of a started run."""
    run = get_object_or_404(scoped(Run, request), pk=run_id)
    name = payload.name or copies.free_name(run)
    copy = copies.copy_run(run, name, payload.same_seed, requester_name(request), payload.why)
    return show_run(request, copy.pk)


def _build_run(request: HttpRequest, payload: RunIn) -> tuple[Run, list[Skill]]:
    """Return the requested run with its further skills, unsaved."""
    fields = payload.dict(exclude={"options", "learn_from", "quotas", "skills", "currency", "seed"})
    fields["pool"] = get_object_or_404(scoped(Pool, request), pk=payload.pool)
    fields["question_set"] = _find_set(request, payload.question_set)
    fields["currency"] = payload.currency
    if payload.currency is None:
        fields["currency"] = money.last_currency(scoped(Run, request))
    if payload.seed is not None:
        fields["seed"] = payload.seed
    if payload.quotas:
        limits = {
            value: [limit.least, limit.most] for value, limit in payload.quotas.limits.items()
        }
        fields["quotas"] = {"attribute": payload.quotas.attribute, "limits": limits}
    earlier = None
    if payload.learn_from is not None:
        earlier = get_object_or_404(scoped(Run, request), pk=payload.learn_from)
    further = [
        Skill(question_set=_find_set(request, skill.question_set), k=skill.k)
        for skill in payload.skills
    ]
    return drafts.build_draft(fields, payload.options, earlier), further


def _find_set(request: HttpRequest, pk: int) -> Any:
    return get_object_or_404(scoped(QuestionSet, request), pk=pk)

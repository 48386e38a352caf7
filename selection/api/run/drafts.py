"""List of runs, and drafts with all settings of the form."""

from dataclasses import asdict
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Schema

from selection import connectors, reports
from selection.accounts import scoped
from selection.api.base import api, find_object, requester_name
from selection.api.fields import Amount, Id, Key, Part, Value, Yes, build_schema, declared_by
from selection.api.idempotency import idempotent
from selection.api.pagination import Page, paginate
from selection.api.schemas import ReasonIn
from selection.forecast import running_forecast
from selection.limits import LONGEST_KEY
from selection.models import Pool, QuestionSet, Run, Skill
from selection.runs import lifecycle, replacement
from selection.runs.settings import drafts
from selection.runs.settings.run_settings import RUN_SETTINGS

from .lifecycle import read_columns, show_run
from .schemas import RunHead, RunOut
from .setting_fields import StrictSchema, input_fields


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


_DraftIn: Any = build_schema("_DraftIn", input_fields(), StrictSchema)


class RunIn(_DraftIn):
    """Settings of a run, with the defaults of its form. Other names are refused as misspelt."""

    options: dict[str, Value] = Field(
        {},
        max_length=50,
        description="Of the algorithm, by name; see docs/algorithms.md. For a pool of models "
        "alone, “accuracy” is “on this question set” by default, and the algorithm is universal.",
    )
    quotas: QuotasIn | None = None
    skills: list[SkillIn] = Field([], max_length=50, description="Further question sets.")


class CopyIn(ReasonIn):
    name: Key | None = Field(None, description="null: the run's own, and “copy”.")
    same_seed: Yes = Field(False, description="The same questions in the same order.")


class ReplaceIn(ReasonIn):
    workers: list[Key] = Field(min_length=1, max_length=1000, description="Selected workers.")
    preview: Yes = Field(False, description="True: only describe the effect.")
    draft: Yes = Field(
        False, description="True: create a draft run that tests the others for these places."
    )


@declared_by(reports.Replacement)
class ReplacedOut(Schema):
    """The effect of a replacement, and the id of the draft run if one was created."""

    draft: int | None


class RunsQuery(Page):
    status: Literal["draft", "running", "paused", "ended"] | None = None
    pool: Id | None = Field(None, description="Only runs of this pool.")
    name: str = Field(
        "", max_length=LONGEST_KEY, description="Only the run with exactly this name."
    )
    search: str = Field("", max_length=LONGEST_KEY, description="Only with this in the name.")


class RunRowOut(RunHead):
    """A run in a list; its own address returns the rest."""

    algorithm: str
    k: int


@api.get("/runs", response=list[RunRowOut])
def list_runs(
    request: HttpRequest, response: HttpResponse, query: Query[RunsQuery]
) -> list[dict[str, Any]]:
    """Return the runs, latest first."""
    filters = {"status": query.status, "pool": query.pool, "name": query.name}
    runs = scoped(Run, request).filter(**{name: value for name, value in filters.items() if value})
    if query.search:
        runs = runs.filter(name__icontains=query.search)
    runs = runs.defer("memory", "best_guarantee", "options")
    page = paginate(request, response, runs, query, by="-pk")
    return [read_columns(run, RunRowOut) for run in page]


@api.post("/runs")
@idempotent(RunOut)
def create_run(request: HttpRequest, payload: RunIn) -> dict[str, Any]:
    """Create a run as a draft: no question is asked before it is started."""
    settings, further = _read_settings(request, payload)
    run = drafts.create_draft(settings, further, "Made by the API.", requester_name(request))
    return show_run(request, run.pk)


@api.put("/runs/{run_id}", response=RunOut)
def replace_run(request: HttpRequest, run_id: Id, payload: RunIn) -> dict[str, Any]:
    """Replace all settings of a draft; 409 once it has started: use PATCH then."""
    run = find_object(request, Run, run_id)
    settings, further = _read_settings(request, payload)
    template = drafts.build_draft(settings)
    drafts.replace_draft(run, template, further, who=requester_name(request))
    return show_run(request, run_id)


@api.delete("/runs/{run_id}")
def delete_run(request: HttpRequest, run_id: Id) -> None:
    """Delete a run with its answers and verdicts; 409 while it is running or paused."""
    lifecycle.delete_run(find_object(request, Run, run_id))


@api.post("/runs/{run_id}/copy")
@idempotent(RunOut)
def copy_run(request: HttpRequest, run_id: Id, payload: CopyIn) -> dict[str, Any]:
    """Create a draft with a run's settings: the way to change fixed settings of a started run."""
    run = find_object(request, Run, run_id)
    name = payload.name or drafts.name_copy(run)
    copy = drafts.copy_run(run, name, payload.same_seed, requester_name(request), payload.reason)
    return show_run(request, copy.pk)


@api.post("/runs/{run_id}/replace", response=ReplacedOut, tags=["runs"])
def replace_workers(request: HttpRequest, run_id: Id, payload: ReplaceIn) -> dict[str, Any]:
    """Give places of selected workers of an ended run to the next best, or say who they are."""
    run = find_object(request, Run, run_id)
    offer = reports.preview_replacement(run, payload.workers, running_forecast.make_forecast)
    draft = None
    if payload.draft and not payload.preview:
        draft = replacement.draft_replacement(
            run, offer.leaving, offer.others, requester_name(request), payload.reason
        )
    elif not payload.preview:
        by = requester_name(request)
        replacement.replace_workers(run, offer.leaving, offer.next_best, by, payload.reason)
        connectors.request_exchanges(run.pk)
    return asdict(offer) | {"draft": draft and draft.pk}


def _read_settings(request: HttpRequest, payload: RunIn) -> tuple[dict[str, Any], list[Skill]]:
    """Read the requested settings, see ``drafts.build_draft``, and the further skills."""
    settings = payload.dict(exclude={"quotas", "skills"}, exclude_unset=True)
    for setting in RUN_SETTINGS:
        if setting.worked_out and settings.get(setting.name) is None:
            settings.pop(setting.name, None)
    settings["pool"] = find_object(request, Pool, payload.pool)
    settings["question_set"] = find_object(request, QuestionSet, payload.question_set)
    if payload.quotas:
        limits = {
            value: [limit.least, limit.most] for value, limit in payload.quotas.limits.items()
        }
        settings["quotas"] = {"attribute": payload.quotas.attribute, "limits": limits}
    further = [
        Skill(question_set=find_object(request, QuestionSet, skill.question_set), k=skill.k)
        for skill in payload.skills
    ]
    return drafts.default_for_models(settings), further

"""Watches: gold answers of workers during their work, and alarms."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Field, Query, Schema, Status

from selection import exports, reports
from selection.accounts import scoped
from selection.errors import Refused
from selection.facts import Facts
from selection.limits import LONGEST_RESPONSE, LONGEST_WHY, MOST_ANSWERS, MOST_ENTRIES
from selection.models import Pool, QuestionSet, Run, Upload, Watch, WatchedWorker
from selection.models.run_columns import MINUTES, MOST_MINUTES
from selection.watches import alarms, begin, gold, overview
from selection.worker import link_rotation, links

from .base import ERRORS, Scope, Token, api, find_object, may_manage, requester_name
from .fields import (
    Amount,
    Id,
    Key,
    Moment,
    Named,
    RowsOut,
    Sent,
    Yes,
    changes_of,
    filter_named,
)
from .files import FileOut, store_file
from .idempotency import idempotent
from .pagination import Page, paginate
from .schemas import UncountedOut

State = Literal["fine", "falling", "alarm", "paused", "practice", "testing", "left"]


class WatchedWorkerIn(Schema, extra="forbid"):
    worker: Key
    level: float | None = Field(
        None, gt=0, lt=1, description="Share right to keep; null: the watch's level."
    )


class WatchSettings(Schema, extra="forbid"):
    level: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Share right that everyone should keep. Null: each worker has an own level. "
        "For selected workers: the pass mark of the run, or without one the accuracy in it less ε.",
        examples=[0.8],
    )
    minutes: int = Field(
        MINUTES,
        ge=1,
        le=MOST_MINUTES,
        description="Time to answer a question; later it counts as not right. An answer with "
        "`asked_at` waits as long for answers to questions asked earlier.",
    )
    pace: Literal["tasks", "week"] = Field(
        "tasks", description="tasks: one gold question in `every` tasks; week: `every` a week."
    )
    every: Amount = Field(20, description="With `pace`, the amount of gold; for forecasts.")
    rule: Literal["rate", "share", "lasting"] = Field(
        "rate",
        description="rate: at most one false alarm per worker in `once_in` gold answers. share: at "
        "most a share `delta` of the reported workers is false. lasting: no false alarm at all, "
        "with a probability of 1 − `delta`. It notices small falls late: a fall to 0.75 at a level "
        "of 0.8 after eight times as many answers as `rate`.",
    )
    once_in: int = Field(2000, ge=10, le=1_000_000)
    delta: float = Field(0.05, ge=0.001, le=0.5)
    pause_on_alarm: Yes = Field(False, description="True: an alarm pauses the worker.")
    tolerance: float = Field(
        0.05, ge=0, le=0.2, description="A worker so far below the level hardly passes a test."
    )
    tries: int = Field(1, ge=1, le=10, description="Tests of a worker until they pass.")
    with_practice: Yes = Field(
        False,
        description="True: a test begins with the practice questions of the sets, on the page of "
        "the worker's link; gold asked before the end of the practice does not count.",
    )


class WatchIn(WatchSettings):
    name: Key = Field(description="Unique in the team.", examples=["Spring annotators"])
    run: Id | None = Field(None, description="An ended run; its selected workers are watched.")
    pool: Id | None = Field(None, description="Without a run: the pool of the workers.")
    question_sets: list[Id] = Field(
        [], max_length=100, description="Sets of gold questions. Empty: those of the run."
    )
    workers: list[WatchedWorkerIn] | None = Field(
        None,
        max_length=MOST_ENTRIES,
        description="Null: the selected workers of the run, or all workers of the pool.",
    )


SETS = Field(None, min_length=1, max_length=100)
WatchChangeIn: Any = changes_of(
    WatchIn, "run", "pool", "workers", question_sets=(list[Id] | None, SETS)
)


class WatchOut(Schema):
    """A watch: its settings, and the next action."""

    id: int
    name: str
    run: int | None
    pool: int
    question_sets: list[int]
    level: float | None
    minutes: int
    pace: str
    every: int
    rule: str
    once_in: int
    delta: float
    false_alarms: str = Field(description="How often an alarm is false, in one sentence.")
    pause_on_alarm: bool
    tolerance: float
    tries: int
    with_practice: bool
    created_at: datetime = Field(alias="created")
    stopped_at: datetime | None = Field(alias="stopped")
    state: Literal["active", "stopped"]
    to_do: str = Field(description="The next action, in one sentence.")
    states: dict[str, int] = Field(
        description="Number of workers by state.", examples=[{"fine": 4, "alarm": 1}]
    )
    most_fall_together: bool = Field(
        description="True: the cause is rather the gold or the task than the workers."
    )
    gold_questions: int = Field(description="Number of gold questions in use.")
    gold_ends_in_weeks: float | None = Field(
        description="Until a worker has met every gold question; null without answers."
    )
    uncounted: list[UncountedOut] = Field(description="Gold answers that do not count, by reason.")


class WatchedWorkerOut(Schema):
    """A watched worker. Evidence that reaches the threshold is an alarm."""

    worker: str
    state: State
    level: float
    answers: int = Field(description="Gold answers since the beginning, counted ones.")
    right: int
    evidence: float
    threshold: float | None
    alarmed_at: datetime | None = Field(alias="alarmed")
    alarmed_after: int | None = Field(description="Number of answers at the alarm.")
    dismissed_at: datetime | None = Field(alias="dismissed")
    reason: str = Field(alias="why")
    tests: int = Field(
        alias="tried", description="Tests since the worker last passed or began anew."
    )
    last_asked_at: datetime | None = Field(alias="last_asked")
    questions_met: int = Field(
        alias="met", description="Number of gold questions that the worker has answered."
    )
    questions_met_before: int = Field(
        alias="met_before", description="Number of gold questions met elsewhere: not asked again."
    )
    link: str = Field(
        description="Personal link to gold questions; empty for tokens without the scope manage."
    )


class WatchedQuery(Page):
    state: State | None = None


class WatchedIn(Schema):
    workers: list[WatchedWorkerIn] = Field(min_length=1, max_length=MOST_ENTRIES)


class ActionIn(Schema, extra="forbid"):
    reason: str = Field(
        "", max_length=LONGEST_WHY, description="Kept in the audit log; needed to dismiss."
    )


class GoldLinksOut(Schema):
    replaced: int = Field(description="Number of workers with a new link.")


class GoldAnswerIn(Schema, extra="forbid"):
    worker: Key
    question: Key
    response: str | None = Field(
        max_length=LONGEST_RESPONSE,
        description="Null: the question was asked, or skipped, and waits for its answer until the "
        "time is over. Questions asked later count after it.",
    )
    asked_at: Moment | None = Field(
        None,
        description="When the question was asked. Null: now, in the order of the rows, after all "
        "other questions of this worker.",
    )


class GoldBatchIn(Schema, extra="forbid"):
    answers: list[GoldAnswerIn] = Field(min_length=1, max_length=MOST_ANSWERS)
    on_mismatch: Literal["refuse", "wrong"] = Field(
        "refuse", description="Answers outside the choices are refused, or count as wrong."
    )


class GoldOut(Schema):
    worker: str
    question_set: str
    question: str
    asked_at: datetime = Field(alias="asked")
    received_at: datetime = Field(alias="received")
    due_at: datetime | None = Field(alias="due")
    response: str
    right: bool
    counted: bool


def _watch_payload(watch: Watch) -> dict[str, Any]:
    return _watch_payloads([watch])[0]


def _watch_payloads(watches: Sequence[Watch]) -> list[dict[str, Any]]:
    counts = reports.count_uncounted_gold(watches)
    return [
        _describe_watch(watch, summary) | {"uncounted": [vars(each) for each in counts[watch.pk]]}
        for watch, summary in overview.summarise_watches(watches)
    ]


def _worker_payload(request: HttpRequest, row: WatchedWorker) -> dict[str, Any]:
    link = links.gold_address(row.pk, row.link_version) if may_manage(request) else ""
    return {**overview.column_values(row, overview.WORKER_COLUMNS), "link": link}


def _describe_watch(watch: Watch, summary: Facts) -> dict[str, Any]:
    return overview.watch_settings(watch) | {
        "to_do": " ".join(filter(None, (summary.words, summary.gold.words))),
        "states": summary.counts,
        "most_fall_together": summary.together,
        "gold_questions": summary.gold.questions,
        "gold_ends_in_weeks": summary.gold.weeks,
    }


@api.get("/watches", response=list[WatchOut], tags=["watches"])
def list_watches(
    request: HttpRequest, response: HttpResponse, query: Query[Named]
) -> list[dict[str, Any]]:
    """Return the watches, oldest first."""
    rows = filter_named(scoped(Watch, request), query).prefetch_related("question_sets")
    return _watch_payloads(paginate(request, response, rows, query))


@api.post("/watches", tags=["watches"])
@idempotent(WatchOut)
def create_watch(request: HttpRequest, payload: WatchIn) -> dict[str, Any]:
    """Watch the selected workers of an ended run, or any workers of a pool."""
    settings = payload.dict(exclude={"run", "pool", "question_sets", "workers"})
    sets = [find_object(request, QuestionSet, pk) for pk in payload.question_sets]
    run = find_object(request, Run, payload.run) if payload.run else None
    pool = find_object(request, Pool, payload.pool) if payload.pool and not run else None
    levels: begin.Levels = {row.worker: row.level for row in payload.workers or ()}
    if payload.workers == []:
        raise Refused("Choose at least one worker to watch.")
    plan = reports.plan_watch(run, pool, sets, levels, payload.level)
    watch = begin.create_watch(plan.pool, plan.question_sets, plan.levels, run, **settings)
    return _watch_payload(watch)


@api.get("/watches/{watch_id}", response=WatchOut, tags=["watches"])
def show_watch(request: HttpRequest, watch_id: Id) -> dict[str, Any]:
    """Return a watch."""
    return _watch_payload(find_object(request, Watch, watch_id))


@api.patch("/watches/{watch_id}", response=WatchOut, tags=["watches"])
def change_watch(request: HttpRequest, watch_id: Id, payload: WatchChangeIn) -> dict[str, Any]:
    """Change settings of a watch.

    Another level or rule begins anew: earlier answers count no more.
    """
    watch = find_object(request, Watch, watch_id)
    settings = payload.read_changes()
    ids = settings.pop("question_sets", None)
    sets = None if ids is None else [find_object(request, QuestionSet, pk) for pk in ids]
    begin.change_watch(watch, sets, **settings)
    return _watch_payload(watch)


@api.delete("/watches/{watch_id}", response={204: None}, tags=["watches"])
def delete_watch(request: HttpRequest, watch_id: Id) -> Status[None]:
    """Delete a watch with its gold answers."""
    find_object(request, Watch, watch_id).delete()
    return Status(204, None)


@api.post(
    "/watches/{watch_id}/transitions/{transition}",
    response=WatchOut,
    tags=["watches"],
    summary="Change watch state",
)
def move_watch(
    request: HttpRequest, watch_id: Id, transition: Literal["stop", "resume", "recount"]
) -> dict[str, Any]:
    """Stop or resume a watch; or grade all answers by the present keys, and count them anew."""
    watch = find_object(request, Watch, watch_id)
    begin.MOVES[transition](watch)
    return show_watch(request, watch_id)


# -- workers


@api.get("/watches/{watch_id}/workers", response=list[WatchedWorkerOut], tags=["watches"])
def list_watched_workers(
    request: HttpRequest, response: HttpResponse, watch_id: Id, query: Query[WatchedQuery]
) -> list[dict[str, Any]]:
    """Return the workers of a watch, with their evidence."""
    rows = find_object(request, Watch, watch_id).workers.select_related("worker")
    if query.state:
        rows = rows.filter(state=query.state)
    return [_worker_payload(request, row) for row in paginate(request, response, rows, query)]


@api.put("/watches/{watch_id}/workers", response=WatchOut, tags=["watches"])
def watch_workers(request: HttpRequest, watch_id: Id, payload: WatchedIn) -> dict[str, Any]:
    """Watch further workers of the pool, or former ones again. Repeating changes nothing."""
    watch = find_object(request, Watch, watch_id)
    begin.add_workers(watch, {row.worker: row.level for row in payload.workers})
    return _watch_payload(watch)


@api.post(
    "/watches/{watch_id}/workers/{key:worker}/transitions/{transition}",
    response=WatchedWorkerOut,
    tags=["watches"],
    summary="Change watched worker",
)
def move_watched_worker(
    request: HttpRequest,
    watch_id: Id,
    worker: Key,
    transition: Literal["pause", "resume", "dismiss", "requalify"],
    payload: ActionIn,
) -> dict[str, Any]:
    """Pause a worker, end the pause, dismiss their alarm, or test them again by further gold."""
    watch = find_object(request, Watch, watch_id)
    row = alarms.find_watched(watch, worker)
    alarms.ACTIONS[transition](row, requester_name(request), payload.reason)
    return _worker_payload(request, alarms.find_watched(watch, worker))


@api.post(
    "/watches/{watch_id}/workers/{key:worker}/link", response=WatchedWorkerOut, tags=["watches"]
)
def replace_gold_link(
    request: HttpRequest, watch_id: Id, worker: Key, payload: ActionIn
) -> dict[str, Any]:
    """Replace the personal link of a worker. The old one says so, and answers stay."""
    row = alarms.find_watched(find_object(request, Watch, watch_id), worker)
    link_rotation.rotate_gold_link(row, requester_name(request), payload.reason)
    row.refresh_from_db(fields=["link_version"])
    return _worker_payload(request, row)


@api.post("/watches/{watch_id}/links", response=GoldLinksOut, tags=["watches"])
def replace_gold_links(request: HttpRequest, watch_id: Id, payload: ActionIn) -> dict[str, int]:
    """Replace the personal links of all workers; the list of workers has the new ones."""
    watch = find_object(request, Watch, watch_id)
    who = requester_name(request)
    return {"replaced": link_rotation.rotate_all_gold_links(watch, who, payload.reason)}


@api.delete("/watches/{watch_id}/workers/{key:worker}", response={204: None}, tags=["watches"])
def unwatch_worker(request: HttpRequest, watch_id: Id, worker: Key) -> Status[None]:
    """Watch a worker no more; their answers stay."""
    begin.remove_workers(find_object(request, Watch, watch_id), [worker])
    return Status(204, None)


# -- gold


@api.post(
    "/watches/{watch_id}/gold",
    response=RowsOut,
    tags=["watches"],
    auth=Token(Scope.ANSWER),
    summary="Record gold answers",
)
def record_gold(request: HttpRequest, watch_id: Id, payload: GoldBatchIn) -> dict[str, Any]:
    """Record gold answers, at most 1,000 at once. Repeating them changes nothing.

    They count in the order in which they were asked, up to the first question without an answer.
    Each row has a result of its own, and the reason of one that was refused or came too late.
    """
    watch = find_object(request, Watch, watch_id)
    answers = [gold.GivenGold(*dict(row).values()) for row in payload.answers]
    return gold.report_fates(gold.record_gold(watch, answers, payload.on_mismatch))


@api.get("/watches/{watch_id}/gold", response=list[GoldOut], tags=["watches"])
def list_gold(
    request: HttpRequest, response: HttpResponse, watch_id: Id, query: Query[Page]
) -> list[dict[str, Any]]:
    """Return the gold answers of a watch, in the order of their arrival."""
    rows = overview.gold_answers(find_object(request, Watch, watch_id))
    page = paginate(request, response, rows, query)
    return [overview.column_values(row, overview.GOLD_COLUMNS) for row in page]


@api.post("/watches/{watch_id}/files", tags=["files"], summary="Upload gold answers file")
@idempotent(FileOut)
def send_gold(request: HttpRequest, watch_id: Id, file: Sent) -> dict[str, Any]:
    """Upload a file of gold answers: Excel, CSV, TSV or JSON, at most 50 MB."""
    return store_file(Upload.Kind.GOLD, find_object(request, Watch, watch_id), file)


@api.get(
    "/watches/{watch_id}/export",
    response=ERRORS,
    tags=["watches"],
    openapi_extra={
        "responses": {
            200: {
                "description": "The file.",
                "content": {
                    "text/csv": {"schema": {"type": "string", "format": "binary"}},
                    "application/json": {"schema": {}},
                },
            }
        }
    },
)
def export_watch(
    request: HttpRequest, watch_id: Id, format: Literal["workers", "gold", "json"] = "json"
) -> StreamingHttpResponse:
    """Return a watch as a file: its workers or its gold answers as CSV, or both as JSON."""
    file = exports.watch_file(find_object(request, Watch, watch_id), format)
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return StreamingHttpResponse(file.pieces, content_type=file.media, headers=headers)

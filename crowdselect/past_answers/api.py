"""Replays of past answers: how many of them each method would have needed."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from ninja import Field, File, Form, Schema, Status
from ninja.files import UploadedFile

from selection.accounts import scoped
from selection.api.base import api, describe_location, find_object, requester_name
from selection.api.fields import MOST, Id, declared_by
from selection.imports.key_readings import READINGS
from selection.imports.keyed_answers import read_upload
from selection.models import QuestionSet, Run
from selection.outbox import jobs

from . import keeping, replay_requests, results
from .models import Replay

Number = Annotated[int, Field(ge=1, le=MOST)]  # a form has texts only
OptionalFile = Annotated[UploadedFile | None, File()]


def _optional_field(description: str, **limits: Any) -> Any:
    """Make a field of a form that may be left out; a form has no null."""
    return Field(None, description=description, **limits)


class ReplayIn(Schema, extra="forbid"):
    """The selection that was wanted.

    The answers are a file, a run, or a question set; the key of a file is another file, a question
    set, or a column of the file itself. A form has no null: leave out what is not set.
    """

    k: Number = Field(description="Number of workers to select.")
    epsilon: float = Field(0.1, gt=0, lt=1, description="Largest error of the selection.")
    delta: float = Field(0.05, gt=0, lt=1, description="Probability of a larger error.")
    budget: Number = _optional_field("Most answers to use.")
    price: float = _optional_field("Cost of an answer.", ge=0, le=99_999_999)
    currency: str = Field(
        "", max_length=10, pattern=r"^[^\x00-\x1f]*$", description="Of the price."
    )
    leave_out: bool = Field(
        False, description="Leave out rows with an error, such as blank answers."
    )
    run: Id = _optional_field("The run with the answers to replay.")
    metric: str = Field("", max_length=200, description="Of results of models with several.")
    variant: str = Field(
        "", max_length=200, description="Filter or prompt, of results of models with several."
    )
    task: str = Field("", max_length=200, description="Of results of several tasks; or all.")
    reading: str = Field(
        "",
        max_length=200,
        description="How the answers of the key name the choices, if it can be read in two ways: "
        f"{', '.join(READINGS)}.",
    )
    question_set: Id = _optional_field(
        "With a file: the question set with the key. Without: replay all answers to the set's "
        "questions, of all runs."
    )


class ReplayFactsOut(Schema):
    """Numbers of rows read; all 0 until then."""

    workers: int = 0
    questions: int = 0
    answers: int = 0
    answers_without_key: int = Field(0, alias="left_out", description="Without a known answer.")
    idle_workers: int = Field(0, alias="idle", description="Workers without any other answer.")
    repeated_answers: int = Field(0, alias="repeated", description="To the same question.")
    rejected_rows: int = Field(0, alias="bad", description="Left out on request.")
    unread_columns: list[str] = Field([], alias="unread", description="Columns that were not read.")
    scores: bool = Field(False, description="True if the answers are scores between 0 and 1.")


@declared_by(results.MethodResult, without=("plays",))
class ReplayMethodOut(Schema):
    """A method: of several plays with other orders of the questions, the one in the middle.

    The middle is that of the number of answers. Losses and guarantees are shares: 0.05 is 5 points.
    """


@declared_by(results.WorkerResult)
class ReplayWorkerOut(Schema):
    """One of the best K by all answers, or selected by a method."""


class ReplayResultOut(Schema):
    headline: str = Field(
        description="One sentence; empty until there are numbers.",
        examples=["310 of 4,212 answers would have been enough"],
    )
    enough: int | None = Field(
        description="Number of answers that were enough; null: no algorithm of ours stopped."
    )
    answers: int = Field(description="Number of all answers.")
    cost: float | None = Field(description="Cost of all answers; null without a price.")
    tokens: int | None = Field(description="Tokens of all calls of models; null if unknown.")
    methods: list[ReplayMethodOut]
    workers: list[ReplayWorkerOut] = Field(description="The best worker first.")
    refused: dict[str, str] = Field(description="Reason of each method that cannot be run.")


class ReplayOut(Schema):
    id: UUID
    name: str = Field(description="Name of the file, run or question set.")
    state: Literal["waiting", "working", "done", "failed"]
    progress: float = Field(description="0 to 1.")
    error: str = Field(description="Reason of a failure; empty without a failure.")
    created_at: datetime = Field(alias="created", description="The replay is deleted a day later.")
    facts: ReplayFactsOut
    result: ReplayResultOut = Field(description="Every play adds precision until `state` is done.")

    @staticmethod
    def resolve_result(replay: Replay) -> dict[str, Any]:
        return results.build_result(replay).serialize()


class ReplayDraftIn(Schema, extra="forbid"):
    algorithm: str = Field("credible", max_length=50, description="One of the methods.")


class ReplayPoolOut(Schema):
    pool: int


class ReplayDraftOut(Schema):
    run: int
    pool: int
    question_set: int


@api.post(
    "/replays",
    response={202: ReplayOut},
    openapi_extra=describe_location("Address to poll."),
    summary="Request replay",
)
def order_replay(
    request: HttpRequest,
    response: HttpResponse,
    payload: Form[ReplayIn],
    file: OptionalFile = None,
    key: OptionalFile = None,
) -> Status[Any]:
    """Try methods on past answers, to see how many of them would have been enough.

    Send a form (multipart/form-data) with the settings, the answers as `file` and their key as
    `key`, in any format of an import. Poll the header Location until the state is done or failed;
    there are numbers after a few seconds. Nothing is stored besides, and the replay is deleted
    after a day.
    """
    names = ("metric", "variant", "task", "reading")
    picked = {name: value for name in names if (value := getattr(payload, name))}
    answers = read_upload(file)
    source = replay_requests.Source(
        answers=answers and replace(answers, picked=picked, leave_out=payload.leave_out),
        key=read_upload(key),
        run=_find_source(request, Run, payload.run),
        question_set=_find_source(request, QuestionSet, payload.question_set),
    )
    goal = payload.dict(exclude={"run", "question_set", "leave_out", *names})
    team = request.auth.team_id  # type: ignore[attr-defined]
    replay = replay_requests.request_replay(source, goal, team, requester_name(request))
    response["Location"] = f"{request.path}/{replay.pk}"
    return Status(202, replay)


@api.get("/replays/{replay_id}", response=ReplayOut)
def show_replay(request: HttpRequest, replay_id: UUID) -> Replay:
    """Return the progress of a replay, and its result so far."""
    return _find_replay(request, replay_id)


@api.delete("/replays/{replay_id}")
def delete_replay(request: HttpRequest, replay_id: UUID) -> None:
    """Delete a replay with its answers, also while it is played."""
    _find_replay(request, replay_id).delete()


@api.post("/replays/{replay_id}/pool", response={201: ReplayPoolOut})
def create_replay_pool(request: HttpRequest, replay_id: UUID) -> Status[Any]:
    """Create a pool of the workers, with their past answers and accuracy as attributes."""
    return Status(201, {"pool": keeping.create_pool(_find_replay(request, replay_id)).pk})


@api.post("/replays/{replay_id}/draft", response={201: ReplayDraftOut})
def create_replay_draft(
    request: HttpRequest, replay_id: UUID, payload: ReplayDraftIn
) -> Status[Any]:
    """Create a draft run over these workers and questions, with the settings of the replay."""
    replay = _find_replay(request, replay_id)
    run = keeping.create_draft(replay, payload.algorithm, requester_name(request))
    ids = {"run": run.pk, "pool": run.pool_id, "question_set": run.question_set_id}
    return Status(201, ids)


def _find_replay(request: HttpRequest, pk: UUID) -> Replay:
    replays = scoped(Replay, request).exclude(state=Replay.State.ASKING)
    replay: Replay = jobs.find_job(pk, replays)
    return replay


def _find_source(request: HttpRequest, model: type[Model], pk: int | None) -> Any:
    return None if pk is None else find_object(request, model, pk)

"""Forecasts: the cost of a run before it exists."""

from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Field, Schema, Status

from selection import forecast
from selection.accounts import scoped
from selection.errors import Refused
from selection.forecast import Belief, forecast_requests
from selection.limits import MOST_ENTRIES, MOST_IMPORTED
from selection.models import ForecastRequest, Run
from selection.outbox import jobs

from .base import api, describe_location, requester_name
from .fields import declared_by


class TallyIn(Schema):
    """A worker's past answers."""

    right: float = Field(ge=0, description="Right answers.")
    answers: int = Field(ge=1, description="Answers in all.")


class ForecastIn(Schema, extra="forbid"):
    """The plan, like that of the command `plan`.

    At most one of range, run and past may be set; without any, all usual kinds of crowds are
    simulated. Unknown names are refused: a misspelt one would return numbers for another plan.
    """

    workers: int = Field(description="Number of workers: 2 to 10,000.")
    k: int = Field(description="Number of workers to select.")
    epsilon: float = Field(0.1, description="Largest error of the selection.")
    delta: float = Field(0.05, description="Probability of a larger error.")
    questions: int = Field(description="Number of gold questions.")
    met: list[tuple[int, int]] = Field(
        [],
        max_length=MOST_ENTRIES,
        description="Pairs (questions, workers): an earlier run showed this number of questions to "
        "this number of workers. Seen questions are not asked again.",
    )
    price: float | None = Field(None, description="Cost of an answer, in any currency.")
    budget: int | None = Field(None, description="Most answers to pay for; null: no limit.")
    goal: Literal["group", "every", "exact", "mark"] = Field(
        "group",
        description="Goal of the selection: group: a high mean accuracy; every: a high accuracy of "
        "each selected worker; exact: exactly the best workers; mark: all workers at a pass mark.",
    )
    mark: float | None = Field(None, description="The pass mark; the goal mark needs one.")
    range: tuple[float, float] | None = Field(
        None,
        description="Lower and upper accuracy of four workers of five, for example 0.6 and 0.9.",
    )
    run: str | None = Field(
        None, description="Name or number of a run with workers of the same accuracy."
    )
    past: list[TallyIn] | None = Field(
        None,
        max_length=MOST_IMPORTED,
        description="Past answers of workers with the same accuracy; at least two workers.",
    )


class LoadOut(Schema):
    """Answers per worker: mean, and of the worker with most: in the median and the worst run."""

    mean: float
    most: int
    at_most: int


@declared_by(forecast.Forecast)
class RowOut(Schema):
    """Forecast for an algorithm. Shares are of simulated runs."""

    answers_per_worker: LoadOut | None


class PointOut(RowOut):
    """A point of a curve: a row at this value."""

    at: float = Field(description="The value of ε or K.")


class CurvesOut(Schema):
    """Answers against ε and against K, of the first algorithms of the table."""

    epsilon: list[PointOut]
    k: list[PointOut]


class ForecastOut(Schema):
    id: UUID
    state: str = Field(description="waiting, working, done, cancelled or failed.")
    progress: float = Field(description="0 to 1.")
    error: str = Field(description="Reason of a failure; empty without a failure.")
    created_at: datetime = Field(alias="created")
    believed: str = Field(description="Assumption about the workers, as a sentence.")
    rows: list[RowOut] = Field(
        description="The recommended algorithm first. Empty until there are numbers: ask again."
    )
    curves: CurvesOut


LATER = describe_location("Address to poll until there are rows.")


@api.post(
    "/forecasts",
    response={200: ForecastOut, 202: ForecastOut},
    openapi_extra=LATER,
    summary="Request forecast",
)
def order_forecast(
    request: HttpRequest, response: HttpResponse, payload: ForecastIn
) -> Status[Any]:
    """Forecast the cost of a run with each algorithm: first numbers at once, then firmer ones.

    For large pools the first numbers take longer: then the status is 202, there are no rows, and
    the header Location has the address to poll. The same request again returns the same forecast.
    Poll it by its id until it is done.
    """
    fields = payload.dict(exclude={"range", "run", "past"})
    plan, belief = forecast.Plan(**fields), _build_belief(request, payload)
    team = request.auth.team_id  # type: ignore[attr-defined]
    job = forecast_requests.request_forecast(plan, belief, requester_name(request), team=team)
    forecast_data = _forecast_payload(job)
    if forecast_data["rows"]:
        return Status(200, forecast_data)
    response["Location"] = f"{request.path}/{job.pk}"
    return Status(202, forecast_data)


@api.get("/forecasts/{forecast_id}", response=ForecastOut)
def show_forecast(request: HttpRequest, forecast_id: UUID) -> dict[str, Any]:
    """Return the current state of a forecast."""
    job = jobs.find_job(forecast_id, scoped(ForecastRequest, request))
    forecast_requests.touch_forecast(job)
    return _forecast_payload(job)


@api.delete("/forecasts/{forecast_id}")
def cancel_forecast(request: HttpRequest, forecast_id: UUID) -> None:
    """Stop refining a forecast. Its numbers stay; the same request again resumes it."""
    jobs.cancel_job(jobs.find_job(forecast_id, scoped(ForecastRequest, request)))


def _build_belief(request: HttpRequest, payload: ForecastIn) -> Belief:
    sources = (payload.range, payload.run, payload.past)
    if sum(source is not None for source in sources) > 1:
        raise Refused("Give at most one of range, run and past.")
    if payload.range is not None:
        return forecast.RangeBelief(*payload.range)
    if payload.run is not None:
        return forecast.belief_from_named_run(payload.run, scoped(Run, request))
    if payload.past is not None:
        return forecast.past_belief("past answers", [_parse_tally(row) for row in payload.past])
    return forecast.DefaultBelief()


def _parse_tally(tally: TallyIn) -> tuple[float, int]:
    if tally.right > tally.answers:
        raise Refused("A worker of the past has more right answers than answers.")
    return tally.right, tally.answers


def _forecast_payload(job: ForecastRequest) -> dict[str, Any]:
    return {
        "id": job.pk,
        "state": job.state,
        "progress": job.progress,
        "error": job.error,
        "created": job.created,
        "believed": forecast_requests.stored_belief(job).words,
        "rows": [asdict(row) for row in forecast_requests.forecast_rows(job)],
        "curves": forecast_requests.forecast_curves(job),
    }

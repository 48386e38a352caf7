"""Forecast of a draft's cost."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Field, Schema, Status

from selection.api.base import api, find_object, requester_name
from selection.api.fields import Id
from selection.api.forecasts import RowOut
from selection.errors import Conflict, NotFound
from selection.forecast import Forecast, draft_forecast
from selection.models import Run
from selection.runs.roster import worker_prices
from selection.runs.roster.worker_prices import AnswerPrice


class ExpectedOut(Schema):
    forecast: UUID = Field(description="The id of the forecast that this is of.")
    state: str = Field(description="waiting, working, done, cancelled or failed.")
    progress: float = Field(description="0 to 1: the numbers get firmer until it is 1.")
    currency: str
    own: RowOut | None = Field(description="null: its algorithm cannot be forecast for this run.")
    recommended: RowOut | None = Field(
        description="null: there are no numbers yet, because the pool is large. Ask again."
    )
    basis: str = Field(description="Origin of the costs if models take part; empty otherwise.")
    left_out: str = Field(description="Parts of the run that the forecast ignores.")


@api.get("/runs/{run_id}/expected", response=ExpectedOut, summary="Show draft forecast")
def show_expected(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return a draft's forecast in its current state; 404 until it is ordered."""
    run = _find_draft(request, run_id)
    forecast = draft_forecast.draft_forecast(run)
    if forecast is None:
        raise NotFound("It is not known what this run will cost: POST to this address to order it.")
    return {
        "forecast": forecast.job.pk,
        "state": forecast.job.state,
        "progress": forecast.job.progress,
        "currency": run.currency,
        "own": _cost_payload(run, forecast.own) if forecast.own else None,
        "recommended": _cost_payload(run, forecast.best) if forecast.best else None,
        "left_out": forecast.rough,
        "basis": worker_prices.describe_basis(_find_price(run), run.currency),
    }


@api.post(
    "/runs/{run_id}/expected",
    response={200: ExpectedOut, 202: ExpectedOut},
    summary="Request draft forecast",
)
def order_expected(request: HttpRequest, run_id: Id) -> Status[Any]:
    """Forecast a draft's cost: first numbers at once, firmer ones later by GET.

    For large pools the first numbers take longer: then the status is 202.
    """
    draft_forecast.request_draft_forecast(_find_draft(request, run_id), requester_name(request))
    forecast_data = show_expected(request, run_id)
    return Status(200 if forecast_data["recommended"] else 202, forecast_data)


def _find_draft(request: HttpRequest, run_id: Id) -> Run:
    run: Run = find_object(request, Run, run_id)
    if run.status != Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has begun: this is about runs that have not.")
    return run


def _find_price(run: Run) -> AnswerPrice:
    return worker_prices.expected_price(run.pool, run.question_set, run.price)


def _cost_payload(run: Run, row: Forecast) -> dict[str, Any]:
    price = _find_price(run)
    costs = [worker_prices.compute_cost(count, price, run.currency) for count in row.answers or ()]
    return asdict(row) | {"cost": costs if price is not None and costs else None}

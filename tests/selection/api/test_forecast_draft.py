"""Forecasts of drafts by the API."""

import pytest
from django.test import Client

from selection.api.run import forecast_draft
from selection.forecast import Forecast, forecast_requests
from selection.models import Endpoint, ForecastRequest, ModelServer
from selection.outbox import celery_messages, jobs
from tests.worlds import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(token, monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 60.0)
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)
    return Client(headers={"authorization": f"Bearer {token}"})


def test_expected_cost_is_unknown_until_ordered(api):
    run = make_run(start=False, algorithm="lucb", questions=10, price="0.1", currency="$")
    address = f"/api/runs/{run.pk}/expected"
    unknown = api.get(address)
    assert (unknown.status_code, "POST to this address" in unknown.json()["error"]) == (404, True)
    told = api.post(address).json()
    assert told == api.get(address).json()
    assert (told["own"]["algorithm"], told["own"]["feasible"]) == ("lucb", False)
    own = told["own"]
    assert (own["answers"], own["cost"], own["runs"], own["finished"]) == (None, None, 1, 0)
    assert own["median"] > 0
    assert told["currency"] == "$"
    assert told["recommended"]["algorithm"]


def test_expected_cost_covers_only_drafts_of_one_skill(api):
    begun = api.post(f"/api/runs/{make_run().pk}/expected")
    assert (begun.status_code, "has begun" in begun.json()["error"]) == (409, True)
    several = make_run(start=False, algorithm="multi-sar", budget=50)
    refused = api.post(f"/api/runs/{several.pk}/expected")
    assert (refused.status_code, "no forecast" in refused.json()["error"]) == (422, True)
    assert api.get("/api/runs/99/expected").status_code == 404


def test_expected_cost_of_a_large_pool_comes_later(api, monkeypatch):
    monkeypatch.setattr("selection.forecast.plan.MOST_AT_ONCE", 0.0)
    run = make_run(start=False, algorithm="lucb", questions=10)
    address = f"/api/runs/{run.pk}/expected"
    ordered = api.post(address)
    assert ordered.status_code == 202
    assert (ordered.json()["recommended"], ordered.json()["own"]) == (None, None)
    jobs.work_on_job(ForecastRequest.objects.get().pk)
    assert api.post(address).status_code == 200
    assert api.get(address).json()["recommended"]["algorithm"]


def test_models_cost_their_prices(api):
    run = make_run(start=False, algorithm="universal", questions=10, currency="$")
    server = ModelServer.objects.create(name="here", url="https://example.org/v1")
    for worker in run.pool.workers.all():
        Endpoint.objects.create(worker=worker, server=server, model="m", price_call="0.00002")
    told = api.post(f"/api/runs/{run.pk}/expected").json()
    assert told["basis"].startswith("Costs are the most that the calls can cost, 0.00002 $")
    row = Forecast(algorithm="universal", title="", options={}, answers=(100, 200, 300))
    costs = map(float, forecast_draft._cost_payload(run, row)["cost"])
    assert [*costs] == [0.002, 0.004, 0.006]

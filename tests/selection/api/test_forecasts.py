"""Forecasts by the API."""

import json
from uuid import uuid4

import pytest

from selection.forecast import (
    budget,
    forecast_requests,
    parts,
    refining,
)
from selection.models import ForecastRequest
from tests import worlds

pytestmark = pytest.mark.django_db
WANTED = {"workers": 6, "k": 2, "epsilon": 0.3, "questions": 20, "price": 0.05}


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    monkeypatch.setattr(forecast_requests, "FIRST", 1000.0)
    monkeypatch.setattr(parts, "ROW_RUNS", 2)


@pytest.fixture
def call(client, token):
    def send(method, path, **payload):
        return getattr(client, method)(
            f"/api/forecasts{path}",
            json.dumps(payload) if payload else None,
            content_type="application/json",
            headers={"authorization": f"Bearer {token}"},
        )

    return send


def test_forecast_is_ordered_read_and_cancelled(call):
    made = call("post", "", **WANTED, range=[0.6, 0.9])
    assert made.status_code == 200
    first = made.json()
    assert first["state"] == "waiting"
    assert 0 < first["progress"] < 1
    assert ForecastRequest.objects.get().by == "token test"
    path = f"/{first['id']}"
    assert call("get", path).json()["rows"] == first["rows"]
    assert call("delete", path).status_code == 204
    assert call("get", path).json()["state"] == "cancelled"


def test_forecast_gives_few_runs_a_median_and_impossible_rows_a_reason(call):
    rows = call("post", "", **WANTED, budget=5).json()["rows"]
    assert rows[0]["median"] > 0
    assert (rows[0]["answers"], rows[0]["runs"]) == (None, 1)
    (csar,) = (row for row in rows if row["algorithm"] == "csar")
    assert "CSAR needs a budget" in csar["cannot"]
    assert (csar["median"], csar["answers_per_worker"], csar["loss"]) == (None, None, None)


def test_forecast_believes_an_earlier_run_past_answers_or_nothing(call):
    run = worlds.make_run(4)
    run.candidates.update(pulls=10, rewards=7)
    assert f"“{run.name}”" in call("post", "", **WANTED, run=run.name).json()["believed"]
    past = [{"right": 9, "answers": 10}, {"right": 4, "answers": 10}]
    believed = call("post", "", **WANTED, past=past).json()["believed"]
    assert "like the 2 workers of past answers" in believed
    assert call("post", "", **WANTED).json()["believed"].startswith("Nothing is known")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"range": [0.9, 0.6]}, "the lower number first"),
        ({"range": [0.6, 0.9], "run": "x"}, "at most one of range, run and past"),
        ({"run": "nobody"}, "There is no run"),
        ({"past": [{"right": 5, "answers": 4}] * 2}, "more right answers than answers"),
        ({"k": 6}, "K must be"),
        ({"workers": 10**6}, "number of workers must be"),
    ],
)
def test_impossible_forecast_is_refused_in_one_sentence(call, given, said):
    refused = call("post", "", **(WANTED | given))
    assert refused.status_code == 422
    assert said in refused.json()["error"]


def test_a_name_that_it_does_not_know_is_refused_and_not_passed_over(call):
    said = call("post", "", **WANTED, belief={"range": [0.5, 0.95]})
    assert said.status_code == 422
    assert said.json()["error"] == "belief is not a field of this request."
    assert not ForecastRequest.objects.exists()


def test_unknown_forecast_is_not_found(call):
    assert call("get", f"/{uuid4()}").status_code == 404
    assert call("delete", f"/{uuid4()}").status_code == 404


LARGE = {"workers": 10_000, "k": 100, "epsilon": 0.1, "questions": 100_000}


@pytest.fixture
def nobody_simulates(monkeypatch):
    """Disable simulation in this process."""

    def play(*_: object) -> None:
        raise AssertionError("A request simulated a run.")

    monkeypatch.setattr(refining, "simulate_run", play)
    monkeypatch.setattr(budget, "simulate_run", play)


def test_a_large_one_is_accepted_and_left_to_celery(call, nobody_simulates):
    made = call("post", "", **LARGE)
    assert made.status_code == 202
    shown = made.json()
    assert (shown["state"], shown["rows"], shown["progress"]) == ("waiting", [], 0)
    assert made.headers["Location"] == f"/api/forecasts/{shown['id']}"
    assert not any(part["plays"] for part in ForecastRequest.objects.get().result)
    assert call("get", f"/{shown['id']}").json()["rows"] == []
    again = call("post", "", **LARGE)
    assert (again.status_code, again.json()["id"]) == (202, shown["id"])

"""Forecasts as jobs: requested, refined in turns, cancelled, abandoned."""

import pytest
from django.utils import timezone

from selection.forecast import (
    DefaultBelief,
    PastBelief,
    Plan,
    RangeBelief,
    candidates,
    forecast_requests,
    parts,
)
from selection.models import ForecastRequest
from selection.outbox import jobs
from tests.processes import celery_worker, wait_until

pytestmark = pytest.mark.django_db
State = ForecastRequest.State
BELIEF = RangeBelief(0.6, 0.9)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Simulate few runs of each part: the tests are about adding them up."""
    monkeypatch.setattr(parts, "ROW_RUNS", 3)
    monkeypatch.setattr(parts, "POINT_RUNS", 2)
    monkeypatch.setattr(parts, "PIECE", 0.0)
    monkeypatch.setattr(forecast_requests, "FIRST", 1000.0)


@pytest.fixture(autouse=True)
def few_algorithms(request, monkeypatch):
    """Forecast three of the algorithms; slow tests forecast all."""
    if request.node.get_closest_marker("slow") is None:
        names = ["credible", "adaptive-top-k", "lucb"]
        monkeypatch.setattr(candidates, "algorithms_for_one_skill", lambda: names)


def plan(**changes):
    settings = {"workers": 6, "k": 2, "epsilon": 0.3, "delta": 0.05, "questions": 20, "price": 0.05}
    return Plan(**(settings | changes))


def request_plan(belief=BELIEF, **changes):
    return forecast_requests.request_forecast(plan(**changes), belief, "her")


def take_turns(job, turns=1000):
    """Take this number of turns, like a Celery worker."""
    for _ in range(turns):
        jobs.work_on_job(job.pk)
        job.refresh_from_db()
        if not job.going:
            break
    return job


def counted_runs(job) -> set[int]:
    return {row.runs for row in forecast_requests.forecast_rows(job) if not row.cannot}


def test_the_first_numbers_are_there_at_once():
    job = request_plan()
    assert forecast_requests.forecast_rows(job)[0].recommended
    assert counted_runs(job) == {1}
    assert job.state == State.WAITING
    assert 0 < job.progress < 1


def test_forecast_is_refined_to_the_end_with_curves():
    job = take_turns(request_plan())
    assert (job.state, job.progress) == (State.DONE, 1)
    assert counted_runs(job) == {3}
    curves = forecast_requests.forecast_curves(job)
    epsilons = [point["at"] for point in curves["epsilon"] if point["algorithm"] == "credible"]
    assert epsilons == sorted(epsilons)
    assert 0.3 in epsilons
    assert {point["at"] for point in curves["k"]} == {1, 2, 3}
    best = [point for point in curves["epsilon"] if point["algorithm"] == "credible"]
    assert best[0]["median"] > best[-1]["median"]
    assert all((point["answers"], point["cost"]) == (None, None) for point in best)


def test_same_request_returns_the_same_row():
    job = take_turns(request_plan())
    again = request_plan()
    jobs.cancel_job(again)  # finished: no effect
    assert (again, again.state) == (job, State.DONE)
    assert request_plan(epsilon=0.25) != job
    assert request_plan(belief=DefaultBelief()) != job


def test_cancelled_forecast_keeps_its_numbers_and_goes_on_when_it_is_requested_again():
    job = request_plan()
    jobs.cancel_job(job)
    assert take_turns(job).state == State.CANCELLED
    assert counted_runs(job) == {1}
    again = request_plan()
    assert (again, take_turns(again).state) == (job, State.DONE)


def test_recommendable_algorithms_are_simulated_first(monkeypatch):
    monkeypatch.setattr(parts, "ROW_RUNS", 200)
    monkeypatch.setattr(parts, "PIECE", 1e-9)
    monkeypatch.setattr(parts, "FIRST_PIECES", 1e12)
    take_turns(job := request_plan(), turns=1)
    runs = {row.algorithm: row.runs for row in forecast_requests.forecast_rows(job)}
    assert sorted(runs.values())[-2:] == [1, 20]
    assert runs["credible"] == 20


@pytest.mark.parametrize(
    "belief", [RangeBelief(0.6, 0.9), DefaultBelief(), PastBelief("a file", (3.0, 4.0), (4, 5))]
)
def test_a_belief_comes_back_as_it_was_stored(belief):
    job = request_plan(belief=belief)
    job.refresh_from_db()
    assert forecast_requests.stored_belief(job) == belief
    assert forecast_requests.stored_plan(job) == plan()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_celery_worker_finishes_a_forecast():
    job = forecast_requests.request_forecast(plan(workers=3, k=1, questions=4), BELIEF)
    with celery_worker():
        wait_until(
            lambda: ForecastRequest.objects.get(pk=job.pk).state == State.DONE, "the forecast"
        )


def look_away(job, **columns):
    long_ago = timezone.now() + forecast_requests.KEPT - 2 * forecast_requests.ABANDONED
    ForecastRequest.objects.update(expires=long_ago, **columns)
    job.refresh_from_db()


def test_abandoned_forecast_is_dropped_until_it_is_viewed():
    job = request_plan()
    look_away(job)
    assert take_turns(job).state == State.ASKING
    assert counted_runs(job) == {1}
    forecast_requests.touch_forecast(job)
    assert take_turns(job).state == State.DONE


def test_forecast_of_a_program_goes_on_without_a_look():
    job = request_plan()
    look_away(job, by="token lab")
    assert take_turns(job).state == State.DONE

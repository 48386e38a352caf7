"""Forecasts as jobs: requested, refined piece by piece, cancelled, swept."""

from datetime import timedelta

import pytest
from django.utils import timezone

from selection.errors import NotFound
from selection.forecast import (
    DefaultBelief,
    PastBelief,
    Plan,
    RangeBelief,
    candidates,
    forecast_requests,
    parts,
    refine_forecasts,
)
from selection.models import ForecastPart, ForecastRequest
from selection.outbox import celery_messages
from tests.processes import celery_worker, wait_until
from topk import SELECTORS

pytestmark = pytest.mark.django_db
State = ForecastRequest.State
BELIEF = RangeBelief(0.6, 0.9)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Simulate few runs of each part: the tests are about adding them up."""
    monkeypatch.setattr(parts, "RUNS", 3)
    monkeypatch.setattr(parts, "POINT_RUNS", 2)
    monkeypatch.setattr(parts, "PIECE", 0.0)
    monkeypatch.setattr(forecast_requests, "FIRST", 1000.0)


@pytest.fixture(autouse=True)
def few_algorithms(request, monkeypatch):
    """Forecast three of the algorithms; slow tests forecast all."""
    if request.node.get_closest_marker("slow") is None:
        names = ["credible", "adaptive-top-k", "lucb"]
        monkeypatch.setattr(candidates, "algorithms_for_one_skill", lambda: names)


@pytest.fixture
def sent(monkeypatch):
    """Return the messages that would go to Celery."""
    messages = []
    monkeypatch.setattr(
        celery_messages.current_app,
        "send_task",
        lambda name, args, **_: messages.append(tuple(args)),
    )
    return messages


def plan(**changes):
    settings = {"workers": 6, "k": 2, "epsilon": 0.3, "delta": 0.05, "questions": 20, "price": 0.05}
    return Plan(**(settings | changes))


def request_plan(capture, belief=BELIEF, **changes):
    with capture(execute=True):
        return forecast_requests.request_forecast(plan(**changes), belief, "her")


def finish_work(planning, sent, capture):
    """Do all requested work, like a Celery worker."""
    while sent:
        with capture(execute=True):
            forecast_requests.work_on_part(*sent.pop(0))
    planning.refresh_from_db()


def test_the_first_numbers_are_there_at_once_and_the_rest_is_handed_out(
    sent, django_capture_on_commit_callbacks
):
    planning = request_plan(django_capture_on_commit_callbacks)
    rows = forecast_requests.forecast_rows(planning)
    assert rows[0].recommended
    assert {row.runs for row in rows if not row.cannot} == {1}
    assert planning.state == State.WAITING
    assert 0 < forecast_requests.forecast_progress(planning) < 1
    assert len(sent) == planning.parts.count() == sum(not row.cannot for row in rows)


def test_forecast_is_refined_to_the_end_with_curves(sent, django_capture_on_commit_callbacks):
    capture = django_capture_on_commit_callbacks
    planning = request_plan(capture)
    finish_work(planning, sent, capture)
    assert planning.state == State.DONE
    assert forecast_requests.forecast_progress(planning) == 1
    assert {row.runs for row in forecast_requests.forecast_rows(planning) if not row.cannot} == {3}
    curves = forecast_requests.forecast_curves(planning)
    epsilons = [point["at"] for point in curves["epsilon"] if point["algorithm"] == "credible"]
    assert epsilons == sorted(epsilons)
    assert 0.3 in epsilons
    assert {point["at"] for point in curves["k"]} == {1, 2, 3}
    best = [point for point in curves["epsilon"] if point["algorithm"] == "credible"]
    assert best[0]["median"] > best[-1]["median"]
    assert all((point["answers"], point["cost"]) == (None, None) for point in best)


@pytest.mark.slow
def test_forecast_refined_in_pieces_equals_the_command(sent, django_capture_on_commit_callbacks):
    capture = django_capture_on_commit_callbacks
    planning = request_plan(capture)
    finish_work(planning, sent, capture)
    *_, rows = refine_forecasts(plan(), RangeBelief(0.6, 0.9), 1000, 3)
    assert forecast_requests.forecast_rows(planning) == rows


def test_same_request_returns_the_same_row(sent, django_capture_on_commit_callbacks):
    capture = django_capture_on_commit_callbacks
    planning = request_plan(capture)
    finish_work(planning, sent, capture)
    again = request_plan(capture)
    assert again == planning
    assert forecast_requests.cancel_forecast(again).state == State.DONE  # finished: no effect
    assert not sent
    assert request_plan(capture, epsilon=0.25) != planning
    assert request_plan(capture, belief=DefaultBelief()) != planning


@pytest.mark.slow
def test_cancelled_forecast_keeps_its_numbers(sent, django_capture_on_commit_callbacks):
    capture = django_capture_on_commit_callbacks
    planning = request_plan(capture)
    forecast_requests.cancel_forecast(planning)
    finish_work(planning, sent, capture)
    assert planning.state == State.CANCELLED
    assert {row.runs for row in forecast_requests.forecast_rows(planning) if not row.cannot} == {1}
    again = request_plan(capture)
    finish_work(again, sent, capture)
    assert again == planning
    assert again.state == State.DONE


def test_a_piece_done_twice_counts_once(sent, django_capture_on_commit_callbacks):
    planning = request_plan(django_capture_on_commit_callbacks)
    part = planning.parts.first()
    stale = ForecastPart.objects.get(pk=part.pk)
    parts.simulate_part(
        part, forecast_requests.stored_plan(planning), forecast_requests.stored_belief(planning)
    )
    parts.simulate_part(
        stale, forecast_requests.stored_plan(planning), forecast_requests.stored_belief(planning)
    )
    part.refresh_from_db()
    assert part.runs == len(part.plays) == 2


def test_recommendable_algorithms_are_simulated_first(
    sent, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(parts, "RUNS", 200)
    planning = request_plan(django_capture_on_commit_callbacks)
    monkeypatch.setattr(parts, "PIECE", 1e-9)
    monkeypatch.setattr(parts, "FIRST_PIECES", 1e12)
    for name, runs in (("credible", 20), ("adaptive-top-k", 2)):
        for part in planning.parts.filter(algorithm=name, options={}):
            parts.simulate_part(
                part,
                forecast_requests.stored_plan(planning),
                forecast_requests.stored_belief(planning),
            )
            part.refresh_from_db()
            assert part.runs == runs


def test_duplicate_message_does_not_repeat_a_piece(sent, django_capture_on_commit_callbacks):
    planning = request_plan(django_capture_on_commit_callbacks)
    message = sent[0]
    forecast_requests.work_on_part(*message)
    forecast_requests.work_on_part(*message)
    for part in planning.parts.all():
        assert part.runs == len(part.plays)
    assert sum(planning.parts.values_list("runs", flat=True)) == planning.parts.count() + 2
    ForecastPart.objects.update(taken=timezone.now())  # all are being worked on
    handed_out = len(sent)
    forecast_requests.work_on_part(*sent[0])
    assert len(sent) == handed_out


def test_newest_forecast_is_done_first(sent, monkeypatch, django_capture_on_commit_callbacks):
    monkeypatch.setattr(forecast_requests, "ABANDONED", timedelta(days=1))  # on a busy machine
    older = request_plan(django_capture_on_commit_callbacks)
    before = list(older.parts.values_list("runs", flat=True))
    newer = request_plan(django_capture_on_commit_callbacks, epsilon=0.25)
    messages = list(sent)
    assert messages[0][0] in older.parts.values_list("pk", flat=True)
    for message in messages[: newer.parts.count()]:
        forecast_requests.work_on_part(*message)
    assert list(older.parts.values_list("runs", flat=True)) == before
    assert newer.parts.filter(runs__gt=1).exists()
    while sent:
        with django_capture_on_commit_callbacks(execute=True):
            forecast_requests.work_on_part(*sent.pop(0))
    assert set(ForecastRequest.objects.values_list("state", flat=True)) == {State.DONE}


def test_overdue_parts_are_handed_out_again(sent, django_capture_on_commit_callbacks):
    planning = request_plan(django_capture_on_commit_callbacks)
    lost, *_ = sent
    sent.clear()
    forecast_requests.sweep_forecasts()
    assert not sent
    late = timezone.now() - forecast_requests.QUEUE.lost - timedelta(seconds=1)
    planning.parts.filter(pk=lost[0]).update(sent=late)
    forecast_requests.sweep_forecasts()
    assert sent == [lost]


def test_forecast_without_celery_has_first_numbers_and_waits(
    monkeypatch, django_capture_on_commit_callbacks
):
    def away(*_, **__):
        raise ConnectionError("no Redis")

    monkeypatch.setattr(celery_messages.current_app, "send_task", away)
    planning = request_plan(django_capture_on_commit_callbacks)
    assert forecast_requests.forecast_rows(planning)
    assert planning.state == State.WAITING
    assert set(planning.parts.values_list("sent", flat=True)) == {None}


def test_failure_is_reported_in_one_sentence(sent, monkeypatch, django_capture_on_commit_callbacks):
    planning = request_plan(django_capture_on_commit_callbacks)

    def broken(*_, **__):
        raise ZeroDivisionError("by zero\nand more")

    monkeypatch.setattr(parts, "simulate_one_more", broken)
    forecast_requests.work_on_part(*sent[0])
    planning.refresh_from_db()
    assert planning.state == State.FAILED
    assert planning.error == "Simulating credible failed: ZeroDivisionError."


@pytest.mark.slow
def test_an_algorithm_that_fails_later_is_a_row_and_the_others_finish(
    sent, monkeypatch, django_capture_on_commit_callbacks
):
    capture = django_capture_on_commit_callbacks
    planning = request_plan(capture)

    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(SELECTORS["lucb"], "ask", broken)
    finish_work(planning, sent, capture)
    assert planning.state == State.DONE
    rows = {
        row.algorithm: row for row in forecast_requests.forecast_rows(planning) if not row.options
    }
    assert rows["lucb"].cannot.startswith("It cannot be simulated")
    assert rows["credible"].runs == 3


@pytest.mark.slow
def test_a_budget_above_all_questions_is_forecast_to_the_end(
    sent, django_capture_on_commit_callbacks
):
    capture = django_capture_on_commit_callbacks
    planning = request_plan(capture, budget=500)
    finish_work(planning, sent, capture)
    assert (planning.state, planning.error) == (State.DONE, "")


def test_unused_forecast_is_deleted(sent, django_capture_on_commit_callbacks):
    planning = request_plan(django_capture_on_commit_callbacks)
    ForecastRequest.objects.update(used=timezone.now() - forecast_requests.KEPT - timedelta(days=1))
    other = request_plan(django_capture_on_commit_callbacks, epsilon=0.2)
    forecast_requests.sweep_forecasts()
    assert list(ForecastRequest.objects.all()) == [other]
    with pytest.raises(NotFound, match="order it again"):
        forecast_requests.find_forecast(planning.pk, ForecastRequest.objects.all())


@pytest.mark.parametrize(
    "belief", [RangeBelief(0.6, 0.9), DefaultBelief(), PastBelief("a file", (3.0, 4.0), (4, 5))]
)
def test_a_belief_comes_back_as_it_was_stored(sent, belief, django_capture_on_commit_callbacks):
    planning = request_plan(django_capture_on_commit_callbacks, belief=belief)
    planning.refresh_from_db()
    assert forecast_requests.stored_belief(planning) == belief
    assert forecast_requests.stored_plan(planning) == plan()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_celery_worker_finishes_a_forecast():
    planning = forecast_requests.request_forecast(plan(workers=3, k=1, questions=4), BELIEF)
    with celery_worker():
        wait_until(
            lambda: ForecastRequest.objects.get(pk=planning.pk).state == State.DONE, "the forecast"
        )
    assert forecast_requests.forecast_progress(ForecastRequest.objects.get(pk=planning.pk)) == 1


def test_abandoned_forecast_is_dropped_until_it_is_viewed(sent, django_capture_on_commit_callbacks):
    planning = request_plan(django_capture_on_commit_callbacks)
    long_ago = timezone.now() - 2 * forecast_requests.ABANDONED
    ForecastRequest.objects.update(used=long_ago)
    ForecastPart.objects.update(sent=None)
    simulated = list(planning.parts.values_list("runs", flat=True))
    while sent:
        forecast_requests.work_on_part(*sent.pop(0))
    forecast_requests.sweep_forecasts()
    assert sent == []
    assert list(planning.parts.values_list("runs", flat=True)) == simulated
    planning.refresh_from_db()
    forecast_requests.touch_forecast(planning)
    assert len(sent) == planning.parts.filter(finished=False).count() > 0
    finish_work(planning, sent, django_capture_on_commit_callbacks)
    assert planning.state == State.DONE


def test_forecast_of_a_program_goes_on_without_a_look(sent, django_capture_on_commit_callbacks):
    planning = request_plan(django_capture_on_commit_callbacks)
    long_ago = timezone.now() - 2 * forecast_requests.ABANDONED
    ForecastRequest.objects.update(used=long_ago, by="token lab")
    finish_work(planning, sent, django_capture_on_commit_callbacks)
    assert planning.state == State.DONE

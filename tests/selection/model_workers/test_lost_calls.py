"""Calls of a process that was killed: they end, and are made again before any later question."""

from datetime import timedelta

import pytest
from django.db.models import F, Sum

from selection import engine
from selection.model_workers import dispatcher, ledger
from selection.model_workers.call_pool import CallPool
from selection.models import Assignment, Endpoint, ModelCall, ModelServer, Run
from tests.model_stub import ModelStub
from tests.selection.model_workers.conftest import make_model_run
from tests.selection.model_workers.test_dispatcher import (
    PRICES,
    accuracy_reply,
    assert_money_adds_up,
    play,
)

pytestmark = pytest.mark.django_db


def begin_and_die(run: Run, most: int = 1000) -> int:
    """Open calls, at most so many at a server, as a process that is killed before it sends them."""
    ModelServer.objects.update(concurrency=most)
    with CallPool() as pool:
        calls = dispatcher.Dispatcher(pool, frozenset([run.pk]))
        pool.send = lambda requests: None  # type: ignore[method-assign]
        calls._begin_calls()
    ModelServer.objects.update(concurrency=32)
    return ModelCall.objects.in_flight().count()


def let_expire() -> None:
    ModelCall.objects.in_flight().update(expires=F("sent") - timedelta(days=1))


def test_close_the_calls_of_a_process_that_was_killed() -> None:
    run = make_model_run("http://127.0.0.1:9/v1", endpoint=PRICES, slots_per_worker=1)
    engine.advance(run.pk)
    server = Endpoint.objects.all()[0].server
    opened = begin_and_die(run)
    callable_before = dispatcher.list_callable(server, None, 100).count()
    assert opened
    assert callable_before == Assignment.objects.count() - opened
    assert ledger.close_interrupted() == 0
    let_expire()
    assert ledger.close_interrupted() == opened
    spending = assert_money_adds_up(run)
    assert spending.spent == ModelCall.objects.aggregate(sum=Sum("reserved"))["sum"] > 0
    assert dispatcher.list_callable(server, None, 100).count() == callable_before + opened


def test_lost_calls_are_made_again_before_any_later_question() -> None:
    with ModelStub(accuracy_reply) as stub:
        run = make_model_run(stub.url, models=3, k=2, endpoint=PRICES, epsilon=0.2)
        play(run, turns=8)
        engine.advance(run.pk)
        begin_and_die(run, most=2)
        lost = ModelCall.objects.in_flight().order_by("pk")
        asked = list(lost.values_list("assignment", flat=True))
        holders = set(lost.values_list("worker", flat=True))
        last = ModelCall.objects.latest("pk").pk
        later = ModelCall.objects.filter(pk__gt=last, worker__in=holders).order_by("pk")
        with CallPool() as pool:
            calls = dispatcher.Dispatcher(pool, frozenset([run.pk]))
            calls.take_turn(0.5)
            calls.finish()
            assert ModelCall.objects.filter(pk__gt=last).exists()  # other models go on
            assert not later.exists()  # nothing behind a lost call would count
            let_expire()
            calls._renewal = 0.0
            calls.take_turn(0.5)
            calls.finish()
        assert list(later.values_list("assignment", flat=True)[: len(asked)]) == asked
        play(run)
        assert run.ending == Run.Ending.GUARANTEE


def test_a_living_process_keeps_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that take longer than a lost call is waited for."""
    monkeypatch.setattr(dispatcher, "RENEWAL", 0.0)
    with ModelStub(accuracy_reply, seconds=0.3) as stub:
        run = make_model_run(stub.url, models=3, k=1)
        engine.advance(run.pk)
        with CallPool() as pool:
            calls = dispatcher.Dispatcher(pool, frozenset([run.pk]))
            calls.take_turn(0)
            let_expire()
            calls.take_turn(0)
            ledger.close_interrupted()
            assert ModelCall.objects.in_flight().count() == 3
            calls.finish()
    assert set(ModelCall.objects.values_list("state", flat=True)) == {"replied"}

"""Calls of a run while other processes call, withdraw, pause, and end: no money twice or lost."""

import math

import pytest
from django.db import IntegrityError, transaction

from selection import engine
from selection.model_workers import dispatcher, ledger
from selection.model_workers.call_pool import CallPool
from selection.model_workers.claims import Claim
from selection.model_workers.dispatcher import Dispatcher
from selection.model_workers.server_calls import Fault, Outcome
from selection.model_workers.throttle import Throttle
from selection.models import (
    Answer,
    Assignment,
    Candidate,
    Endpoint,
    ModelCall,
    ModelServer,
    ModelSpending,
    Run,
)
from selection.runs import lifecycle
from selection.runs.roster import membership
from tests.model_stub import ModelStub
from tests.selection.model_workers.conftest import make_model_run

pytestmark = pytest.mark.django_db
OFF = "http://127.0.0.1:9/v1"
PRICE = 10_000_000  # of a call by PRICES
PRICES = {"price_call": 0.01}
REPLY = Outcome(5, reply="yes", tokens_in=1, tokens_out=1)
LOST = Outcome(5, Fault.SERVER, "The connection broke.", charged=True)


def say_yes(model: str, text: str) -> str:
    return "yes"


@pytest.fixture
def run() -> Run:
    run = make_model_run(OFF, models=4, k=1, endpoint=PRICES)
    engine.advance(run.pk)
    return run


def read_claims(most: int = 100) -> list[Claim]:
    return Dispatcher(CallPool())._claims(ModelServer.objects.get(), most)


def open_one() -> ModelCall:
    [(call, _)], _ = ledger.open_calls(read_claims(1))
    return call


def interrupt(call: ModelCall) -> None:
    ModelCall.objects.filter(pk=call.pk).update(expires="2026-01-01T00:00Z")
    assert ledger.close_interrupted() == 1


def test_two_dispatchers_that_read_the_same_make_each_call_once(run):
    claims = read_claims()
    opened, _ = ledger.open_calls(claims)
    assert len(opened) == len(claims) > 2
    assert ledger.open_calls(claims) == ([], set())
    ledger.close_calls({call.pk: REPLY for call, _ in opened})
    assert ledger.open_calls(claims) == ([], set())
    assert ledger.reuse_replies(claims) == set()
    assert ModelCall.objects.count() == Answer.objects.count() == len(claims)
    assert ModelSpending.objects.get().spent == len(claims) * PRICE


def test_the_database_refuses_a_second_call_in_flight(run):
    call = open_one()
    call.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        call.save()


@pytest.mark.parametrize("change", ["pause", "stop", "withdraw", "take away"])
def test_outdated_claim_makes_no_call(run, change):
    claims = read_claims()
    if change == "pause":
        lifecycle.pause_run(run)
    elif change == "stop":
        lifecycle.stop_run(run)
    elif change == "withdraw":
        Candidate.objects.filter(run=run).update(gone=Candidate.Gone.WITHDRAWN)
    else:
        Assignment.objects.all().delete()
    assert ledger.open_calls(claims) == ([], set())
    assert not ModelCall.objects.exists()


def test_a_withdrawn_model_is_called_no_more_and_holds_up_no_step():
    run = make_model_run(OFF, models=4, k=1)
    engine.advance(run.pk)
    server = ModelServer.objects.get()
    membership.withdraw_workers(run, ["w0"])
    called = dispatcher.list_callable(server, None, 1000)
    keys = set(called.values_list("candidate__worker__key", flat=True))
    assert keys == {"w1", "w2", "w3"}


@pytest.mark.parametrize("ended", [False, True])
def test_the_reply_to_a_call_in_flight_is_paid_and_answers_unless_the_run_ended(run, ended):
    call = open_one()
    (lifecycle.stop_run if ended else lifecycle.pause_run)(run)
    ledger.close_calls({call.pk: REPLY})
    spending = ModelSpending.objects.get()
    assert (spending.spent, spending.in_flight) == (PRICE, 0)
    assert Answer.objects.exists() != ended


def test_a_late_reply_corrects_the_cost_and_answers(run):
    call = open_one()
    interrupt(call)
    assert ModelSpending.objects.get().spent == call.reserved
    ledger.close_calls({call.pk: Outcome(5, Fault.RATE, "Slow down.")})
    assert ModelSpending.objects.get().spent == 0
    again = open_one()
    interrupt(again)
    ledger.close_calls({again.pk: REPLY})
    ledger.close_calls({again.pk: REPLY})
    spending = ModelSpending.objects.get()
    assert (spending.spent, spending.in_flight) == (PRICE, 0)
    assert Answer.objects.get().pk == again.assignment_id


def test_a_late_reply_to_a_withdrawn_assignment_is_paid_and_no_answer(run):
    call = open_one()
    interrupt(call)
    Assignment.objects.filter(pk=call.assignment_id).delete()
    ledger.close_calls({call.pk: REPLY})
    assert ModelSpending.objects.get().spent == PRICE
    assert not Answer.objects.exists()


def test_a_late_failure_leaves_the_next_call_its_time(run):
    first = open_one()
    interrupt(first)
    second = open_one()
    assert second.assignment_id == first.assignment_id
    ledger.close_calls({first.pk: LOST})
    assert Assignment.objects.get(pk=second.assignment_id).due is not None
    ledger.close_calls({second.pk: LOST})
    assert Assignment.objects.get(pk=second.assignment_id).due is None
    spending = ModelSpending.objects.get()
    assert (spending.spent, spending.in_flight) == (2 * PRICE, 0)


def test_failed_calls_are_no_tries_of_an_unreadable_reply(run):
    Endpoint.objects.update(unreadable="retry", parsing="regex", pattern="a=(.)", temperature=1)
    for outcome in (LOST, LOST, LOST, REPLY, REPLY):
        ledger.close_calls({open_one().pk: outcome})
        assert not Answer.objects.exists()
    ledger.close_calls({open_one().pk: REPLY})
    assert Answer.objects.get().response == "Not readable: yes"


def test_a_run_does_not_end_while_another_process_may_release_money(run):
    ModelSpending.objects.create(run=run, limit=PRICE)
    elsewhere = open_one()
    with CallPool() as pool:
        here = Dispatcher(pool)
        here.take_turn(0)
        engine.advance(run.pk)
        run.refresh_from_db()
        assert run.status == Run.Status.RUNNING
        ledger.close_calls({elsewhere.pk: REPLY})
        here.take_turn(0)
    engine.advance(run.pk)
    run.refresh_from_db()
    assert run.ending == Run.Ending.BUDGET


def test_a_run_without_money_ends_although_another_goes_on(run):
    ModelSpending.objects.create(run=run, limit=0)
    with ModelStub(say_yes) as stub, CallPool() as pool:
        other = make_model_run(stub.url, models=2, k=1)
        engine.advance(other.pk)
        here = Dispatcher(pool)
        assert here._begin_calls() > 0
        here.finish()
    engine.advance(run.pk)
    run.refresh_from_db()
    assert run.ending == Run.Ending.BUDGET


def test_a_run_does_not_end_before_all_its_servers_had_room(run):
    ModelSpending.objects.create(run=run, limit=0)
    with ModelStub(say_yes) as stub, CallPool() as pool:
        cheap = ModelServer.objects.create(name="cheap", url=stub.url)
        Endpoint.objects.filter(worker__key="w1").update(server=cheap, price_call=0)
        here = Dispatcher(pool, throttles={cheap.pk: Throttle(1, rests_until=math.inf)})
        here.take_turn(0)
        engine.advance(run.pk)
        run.refresh_from_db()
        assert run.status == Run.Status.RUNNING
        here.throttles[cheap.pk].rests_until = 0
        assert here._begin_calls() > 0
        here.finish()


def test_interruption_while_recording_loses_no_reply(run, monkeypatch):
    def interrupt_once(outcomes: dict[int, Outcome]) -> set[int]:
        monkeypatch.undo()
        raise KeyboardInterrupt

    with ModelStub(say_yes) as stub, CallPool() as pool:
        ModelServer.objects.update(url=stub.url, concurrency=1)
        here = Dispatcher(pool)
        assert here._begin_calls() == 1
        monkeypatch.setattr(ledger, "close_calls", interrupt_once)
        with pytest.raises(KeyboardInterrupt):
            here.take_turn(5, begin=False)
        assert here.take_turn(0, begin=False)
        assert not here.take_turn(0, begin=False)
    assert ModelCall.objects.get().state == ModelCall.State.REPLIED
    assert Answer.objects.count() == 1


def test_a_rate_outlives_a_task(run):
    with ModelStub(say_yes) as stub:
        ModelServer.objects.update(url=stub.url, requests_per_minute=3)
        for _ in range(2):
            dispatcher.make_calls(2, 0.3, lambda: None)
        assert stub.calls == 3


def test_an_address_that_cannot_be_used_fails_its_calls(run):
    ModelServer.objects.update(url="https://127.1/v1")
    with CallPool() as pool:
        here = Dispatcher(pool)
        assert here._begin_calls() > 0
        here.finish()
    assert "cannot be used" in Endpoint.objects.all()[0].problem
    assert not ModelCall.objects.in_flight().exists()

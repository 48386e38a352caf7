"""Servers that lie or send junk: each harms its own call, and no limit of money."""

from typing import Any

import pytest
from django.db.models import Sum

from selection import engine
from selection.model_workers import ledger, spending
from selection.model_workers.completions import Fault, Outcome
from selection.models import Answer, Endpoint, ModelCall, ModelServer, ModelSpending, Run
from tests.model_stub import ModelStub
from tests.selection.model_workers.conftest import make_model_run
from tests.selection.model_workers.test_concurrency import read_claims
from tests.selection.model_workers.test_dispatcher import accuracy_reply, play

pytestmark = pytest.mark.django_db
OFF = "http://127.0.0.1:9/v1"
PRICES = {"price_in": 1, "price_out": 2, "max_tokens": 10}
REPLY = Outcome(5, reply="yes", tokens_in=1, tokens_out=1)
UNREADABLE = ["{\ud83d", "{\0", '{"answer":' + "[" * 40_000 + "}"]


def open_calls(run: Run, most: int) -> list[ModelCall]:
    engine.advance(run.pk)
    opened, _ = ledger.open_calls(read_claims(most))
    return [call for call, _ in opened]


@pytest.mark.parametrize("reply", UNREADABLE)
def test_a_bad_reply_closes_its_own_call_only(reply: str) -> None:
    run = make_model_run(OFF, models=4, k=1, endpoint={"price_call": 0.01, "parsing": "json"})
    first, *others = open_calls(run, 100)
    bad = Outcome(5, reply=reply, request_id=reply, finish=reply, tokens_in=1, tokens_out=1)
    good = Outcome(5, reply='{"answer": "yes"}', tokens_in=1, tokens_out=1)
    ledger.close_calls(dict.fromkeys([call.pk for call in others], good) | {first.pk: bad})
    assert set(ModelCall.objects.values_list("state", flat=True)) == {"replied"}
    assert Answer.objects.filter(response="yes").count() == len(others) > 1
    first.refresh_from_db()
    assert (first.answer, first.problem) == ("", "No answer could be read from the reply.")
    assert ModelSpending.objects.get().in_flight == 0


def test_a_text_with_a_lone_surrogate_is_an_answer() -> None:
    run = make_model_run(OFF, models=2, k=1)
    first, *_ = open_calls(run, 1)
    ledger.close_calls({first.pk: Outcome(5, reply="\ud83d yes\0")})
    first.refresh_from_db()
    assert first.state == "replied"
    assert Answer.objects.get().response == first.answer != ""


def test_a_reply_that_cannot_be_stored_closes_its_own_call_only(monkeypatch: Any) -> None:
    run = make_model_run(OFF, models=2, k=1)
    first, *others = open_calls(run, 100)
    store_ends = ledger._store_ends

    def refuse_marked(calls: Any, names: Any) -> None:
        if any(call.reply == "unforeseen" for call in calls):
            raise ValueError("cannot be stored")
        store_ends(calls, names)

    monkeypatch.setattr(ledger, "_store_ends", refuse_marked)
    bad = Outcome(5, reply="unforeseen")
    closed = ledger.close_calls(dict.fromkeys([one.pk for one in others], REPLY) | {first.pk: bad})
    assert closed.settled == {call.pk for call in others}
    assert closed.outcomes[first.pk].fault == Fault.SERVER
    first.refresh_from_db()
    assert (first.state, first.problem) == ("interrupted", "The reply cannot be stored.")
    assert Answer.objects.count() == len(others)


def test_replies_are_read_before_the_transaction(
    monkeypatch: Any, django_assert_num_queries: Any
) -> None:
    run = make_model_run(OFF, models=2, k=1)
    calls = open_calls(run, 100)
    steps = []
    for name in ("read_answer", "_lock_spending"):
        before = getattr(ledger, name)
        monkeypatch.setattr(
            ledger, name, lambda *a, name=name, before=before: (steps.append(name), before(*a))[1]
        )
    ledger.close_calls({call.pk: REPLY for call in calls})
    assert steps == ["read_answer"] * len(calls) + ["_lock_spending"]


LIES = {
    "2^31 tokens": {"completion_tokens": 2**31},
    "the most tokens": {"completion_tokens": 2**31 - 1},
    "hidden thoughts": {"completion_tokens": 400},
    "thoughts in the total": {"total_tokens": 420},
    "hidden instructions": {"prompt_tokens": 1_520},
    "negative": {"completion_tokens": -5},
    "text": {"completion_tokens": "lots"},
    "a number as text": {"completion_tokens": "2"},
    "fractions": {"completion_tokens": 2.5},
}


@pytest.mark.parametrize("lie", LIES)
def test_no_claim_exceeds_the_limit(lie: str) -> None:
    with ModelStub(accuracy_reply) as stub:
        stub.usage = LIES[lie]
        run = make_model_run(stub.url, models=4, k=1, endpoint=PRICES, epsilon=0.01)
        limit = 3_000_000
        ModelSpending.objects.create(run=run, limit=limit)
        play(run, turns=8)
        money = ModelSpending.objects.get(run=run)
        sums = ModelCall.objects.aggregate(cost=Sum("cost"))
    assert money.spent == sums["cost"] > 0
    assert money.spent <= limit
    if lie in ("2^31 tokens", "the most tokens"):
        problems = Endpoint.objects.exclude(problem="").values_list("problem", flat=True)
        assert "claims 20 input and 2,147,483,647 output tokens" in problems[0]
        assert stub.calls <= 4 + 8  # one at a time
    elif lie.startswith(("hidden", "thoughts")):
        [notice] = spending.list_notices(run)
        assert "more than its request allowed" in notice


def test_a_model_without_a_known_price_is_called_once_under_a_limit() -> None:
    run = make_model_run(OFF, models=3, k=1, endpoint=PRICES)
    ModelSpending.objects.create(run=run, limit=10**9)
    calls = open_calls(run, 100)
    assert len({call.worker_id for call in calls}) == len(calls) == 3
    assert open_calls(run, 100) == []
    ledger.close_calls({calls[0].pk: REPLY})
    assert {call.worker_id for call in open_calls(run, 100)} == {calls[0].worker_id}
    assert len(open_calls(run, 100)) == 0


def test_models_show_their_price_one_after_another_if_little_is_left() -> None:
    run = make_model_run(OFF, models=3, k=1, endpoint=PRICES)
    ModelSpending.objects.create(run=run, limit=5_000_000)
    calls = open_calls(run, 100)
    assert len(calls) == 1
    assert open_calls(run, 100) == []


def test_a_dear_reply_is_charged_and_reserved_from_then_on() -> None:
    run = make_model_run(OFF, models=2, k=1, endpoint=PRICES)
    ModelSpending.objects.create(run=run, limit=10**9)
    first, second = open_calls(run, 100)
    ledger.close_calls({first.pk: Outcome(5, reply="yes", tokens_in=20, tokens_out=400)})
    first.refresh_from_db()
    assert first.cost == 820_000 > first.reserved
    assert {call.reserved for call in open_calls(run, 100)} == {2 * 820_000}
    ModelSpending.objects.update(limit=ModelSpending.objects.get().spent)
    ledger.close_calls({second.pk: Outcome(5, reply="yes", tokens_in=20, tokens_out=400)})
    second.refresh_from_db()
    assert second.cost == second.reserved  # the limit leaves no more


def test_refused_parameters_are_remembered_for_the_server() -> None:
    with ModelStub(accuracy_reply) as stub:
        stub.refused = {"max_tokens": "Use 'max_completion_tokens' instead.", "temperature": "No."}
        run = make_model_run(stub.url, models=2, k=1)
        ModelServer.objects.update(concurrency=1)
        play(run, turns=4)
    assert stub.outcomes["refused"] == 2  # of the one model that was called
    assert stub.outcomes["replied"] > 2
    made = {"max_tokens": "max_completion_tokens", "temperature": None}
    assert Endpoint.objects.exclude(adjustments={}).get().adjustments == made
    [notice] = spending.list_notices(run)
    assert "“max_completion_tokens” replaces “max_tokens”, “temperature” is left out" in notice

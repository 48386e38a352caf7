"""A run of models against a server that fails: money, ledger and answers add up."""

import hashlib
import time
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal

import pytest
from django.db.models import Sum

from packages.topk.tests.parameters import mostly_slow
from selection import engine
from selection.answers import recording
from selection.model_workers import claims, dispatcher, spending, throttle
from selection.model_workers.call_pool import CallPool
from selection.models import (
    Answer,
    Assignment,
    Endpoint,
    ModelCall,
    ModelServer,
    ModelSpending,
    Run,
)
from tests.model_stub import PROMPT_TOKENS, REPLY_TOKENS, ModelStub
from tests.selection.model_workers.conftest import make_model_run

pytestmark = pytest.mark.django_db
COST = 1000 * (PROMPT_TOKENS * 1 + REPLY_TOKENS * 2)  # of a call by PRICES
PRICES = {"price_in": 1, "price_out": 2, "max_tokens": 10}


def accuracy_reply(model: str, text: str) -> str:
    """Answer rightly: m0 and m1 in 95 % of questions, the others in 40 %."""
    share = 0.95 if model in ("m0", "m1") else 0.4
    luck = int(hashlib.sha256(f"{model} {text}".encode()).hexdigest()[:8], 16) / 16**8
    return "yes" if luck < share else "no"


def play(run: Run, seconds: float = 300.0, turns: int = 10**6) -> None:
    """Take steps and turns until the run has ended."""
    with CallPool() as pool:
        calls = dispatcher.Dispatcher(pool, frozenset([run.pk]))
        end = time.monotonic() + seconds
        while time.monotonic() < end and turns:
            if claims.is_running_low(run.pk):
                engine.advance(run.pk)
            run.refresh_from_db()
            if run.status == Run.Status.ENDED:
                break
            calls.take_turn(0.05)
            turns -= 1
            Endpoint.objects.update(rests_until=None)  # rests would only take time here
        calls.finish()


def record_replies(run: Run, assignments: Iterable[Assignment]) -> None:
    recording.record_many(run, [(assignment, "yes") for assignment in assignments])


def assert_money_adds_up(run: Run) -> ModelSpending:
    calls, spending = ModelCall.objects.filter(run=run), ModelSpending.objects.get(run=run)
    assert spending.in_flight == 0
    assert not calls.in_flight().exists()
    assert spending.spent == calls.aggregate(sum=Sum("cost"))["sum"]
    return spending


@pytest.mark.parametrize(
    "algorithm",
    mostly_slow(("same-questions", "certified", "lucb"), ordinary=("certified",)),
)
def test_select_the_best_models_although_calls_fail(algorithm: str) -> None:
    with ModelStub(accuracy_reply, faults=0.1) as stub:
        epsilon = 0.3 if algorithm == "lucb" else 0.15
        run = make_model_run(stub.url, endpoint=PRICES, algorithm=algorithm, epsilon=epsilon)
        play(run)
        assert run.ending == Run.Ending.GUARANTEE
        chosen = run.candidates.filter(verdict=1).values_list("worker__endpoint__model", flat=True)
        assert set(chosen) == {"m0", "m1"}
        states = Counter(ModelCall.objects.values_list("state", flat=True))
        assert sum(states.values()) == stub.calls  # each call is in the ledger, once
        assert states["replied"] == stub.outcomes["replied"]
        assert states["failed"] == stub.outcomes["limited"] + stub.outcomes["broken"]
        answers = Answer.objects.filter(run=run)
        assert not answers.filter(expired=True).exists()
        late = ModelCall.objects.filter(state="replied", assignment__answer=None)
        assert answers.count() == states["replied"] - late.count()
        assert not late.filter(closed__lt=run.ended).exists()
        assert set(answers.values_list("response", flat=True)) == {"yes", "no"}
        lost = sum(stub.outcomes[way] for way in ("silent", "truncated", "malformed"))
        assert states["interrupted"] == lost > 0
        replied = ModelCall.objects.filter(state="replied")
        assert set(replied.values_list("cost", flat=True)) == {COST}
        assert_money_adds_up(run)


def test_repeated_run_sends_no_request_twice() -> None:
    with ModelStub(accuracy_reply) as stub:
        run = make_model_run(stub.url, epsilon=0.5)
        play(run)
        again = make_model_run(stub.url, epsilon=0.5, question_set=run.question_set)
        play(again)
        assert again.ending == Run.Ending.GUARANTEE
        assert stub.calls == ModelCall.objects.values("digest").distinct().count()
        replied = run.model_calls.filter(state="replied").values("digest")
        known = again.model_calls.filter(digest__in=replied)
        assert set(known.values_list("state", flat=True)) == {"reused"}


@pytest.mark.parametrize(("k", "epsilon", "waits"), [(1, 0.01, False), (6, 0.05, True)])
def test_slow_reply_holds_up_other_calls_only_if_the_guarantee_needs_it(
    k: int, epsilon: float, waits: bool
) -> None:
    """Six of twelve are certified by numberings, which assume that speed decides nothing."""
    options = {"algorithm": "certified", "k": k, "epsilon": epsilon}
    run = make_model_run("http://127.0.0.1:9/v1", models=12, **options)
    engine.advance(run.pk)
    slow = Assignment.objects.filter(candidate__run=run).order_by("pk")[0]
    others = Assignment.objects.open().filter(candidate__run=run).exclude(pk=slow.pk)
    record_replies(run, others)
    engine.advance(run.pk)
    assert others.all().exists() is not waits
    record_replies(run, [slow])
    engine.advance(run.pk)
    assert others.all().exists()


def test_never_spend_more_than_the_limit() -> None:
    with ModelStub(accuracy_reply) as stub:
        run = make_model_run(stub.url, endpoint=PRICES)
        limit = 100 * COST
        ModelSpending.objects.create(run=run, limit=limit)
        play(run)
        assert run.ending == Run.Ending.BUDGET
        spending = assert_money_adds_up(run)
        most = ModelCall.objects.order_by("-reserved").values_list("reserved", flat=True)[0]
        assert limit - most < spending.spent <= limit
        assert spending.spent == stub.calls * COST


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["lucb", "certified", "universal"])
def test_a_run_goes_on_with_the_models_that_it_can_afford(algorithm: str) -> None:
    cheap, dear, limit = 10_000_000, 2_000_000_000, 5_000_000_000
    with ModelStub(accuracy_reply) as stub:
        run = make_model_run(
            stub.url, models=4, endpoint={"price_call": 0.01}, algorithm=algorithm, epsilon=0.01
        )
        Endpoint.objects.filter(model="m1").update(price_call=2)
        ModelServer.objects.update(concurrency=2)  # dear calls are first in the queue
        ModelSpending.objects.create(run=run, limit=limit)
        play(run)
        assert run.ending == Run.Ending.BUDGET
        spending = assert_money_adds_up(run)
        assert limit - spending.spent < cheap
        costs = Counter(ModelCall.objects.values_list("cost", flat=True))
        assert costs == {dear: 2, cheap: 100}
        assert run.candidates.filter(unaffordable=False).count() == 0


def test_a_higher_limit_lets_dear_models_be_asked_again() -> None:
    with ModelStub(accuracy_reply) as stub:
        run = make_model_run(stub.url, models=3, k=1, endpoint={"price_call": 0.01}, epsilon=0.01)
        Endpoint.objects.filter(model="m1").update(price_call=2)
        spending.set_limit(run, Decimal("1.9"))
        play(run, turns=5)
        engine.advance(run.pk)  # on a busy machine the last calls end after the last step
        assert run.status == Run.Status.RUNNING
        dear = run.candidates.get(worker__key="w1")
        assert (dear.unaffordable, dear.asked) == (True, 0)
        spending.set_limit(run, Decimal(5))
        play(run, turns=8)
        dear.refresh_from_db()
        assert dear.asked > 0


def test_dear_models_are_marked_together_with_the_calls_of_the_others(monkeypatch) -> None:
    """Otherwise a limit raised in between would not find them, and calls would stay unsent."""

    def fail(candidates):
        assert candidates
        raise OSError("disk full")

    with ModelStub(accuracy_reply) as stub:
        run = make_model_run(stub.url, models=3, k=1, endpoint={"price_call": 0.01}, epsilon=0.01)
        Endpoint.objects.filter(model="m1").update(price_call=2)
        spending.set_limit(run, Decimal("1.9"))
        monkeypatch.setattr(spending, "mark_unaffordable", fail)
        with pytest.raises(OSError, match="disk full"):
            play(run, turns=5)
    assert not ModelCall.objects.exists()
    assert ModelSpending.objects.get().in_flight == 0


def test_an_unreachable_model_is_absent_not_wrong() -> None:
    with ModelStub(accuracy_reply) as stub:
        url = stub.url
    run = make_model_run(url)
    play(run, turns=3)
    assert not Answer.objects.exists()
    assert not Assignment.objects.exclude(due=None).exists()
    problems = Endpoint.objects.exclude(problem="").values_list("problem", flat=True)
    assert problems
    assert all("No connection" in problem for problem in problems)


def test_a_wrong_key_rests_the_model_and_tells_why() -> None:
    with ModelStub(accuracy_reply) as stub:
        stub.status, stub.error = 401, "Incorrect API key"
        run = make_model_run(stub.url, models=3, k=1)
        engine.advance(run.pk)
        with CallPool() as pool:
            calls = dispatcher.Dispatcher(pool)
            for _ in range(20):
                calls.take_turn(0.05)
            calls.finish()
        assert stub.calls <= 32  # those that were sent before the first answer
        endpoint = Endpoint.objects.first()
        assert endpoint is not None
        assert endpoint.rests_until is not None
        assert endpoint.problem == "The server answered 401: Incorrect API key"
        assert not Answer.objects.exists()


def test_a_server_that_refuses_again_and_again_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "rest_seconds", lambda failures: 0.01)
    with ModelStub(accuracy_reply) as stub:
        stub.status, stub.error = 429, "You exceeded your quota"
        run = make_model_run(stub.url, models=3, k=1)
        play(run, turns=1)
        assert not Endpoint.objects.exclude(problem="").exists()
        play(run, turns=20)
        assert set(Endpoint.objects.exclude(problem="").values_list("problem", flat=True)) == {
            "The server answered 429: You exceeded your quota"
        }
        assert not Answer.objects.exists()


def test_unreadable_replies_count_as_wrong_and_are_kept() -> None:
    with ModelStub(lambda model, text: "I would rather not say.") as stub:
        choices = {"parsing": "regex", "pattern": "answer=(\\w+)"}
        run = make_model_run(stub.url, endpoint=choices)
        play(run, turns=3)
    answer = Answer.objects.filter(run=run).first()
    assert answer is not None
    assert not answer.right
    assert answer.response == "Not readable: I would rather not say."
    assert set(ModelCall.objects.values_list("answer", "problem")) == {
        ("", "No answer could be read from the reply.")
    }


def test_ask_again_up_to_twice_for_an_unreadable_reply() -> None:
    with ModelStub(lambda model, text: "") as stub:
        run = make_model_run(stub.url, endpoint={"unreadable": "retry", "temperature": 1})
        play(run, turns=12)
    answered = ModelCall.objects.filter(assignment__answer__isnull=False)
    assert Counter(answered.values_list("attempt", flat=True)).keys() == {1, 2, 3}
    assert not Answer.objects.filter(assignment__model_calls__attempt=1).exclude(
        assignment__model_calls__attempt=3
    )


def test_send_an_equal_request_of_two_runs_once() -> None:
    with ModelStub(accuracy_reply, seconds=0.2) as stub:
        first = make_model_run(stub.url)
        second = make_model_run(stub.url, question_set=first.question_set)
        for run in (first, second):
            engine.advance(run.pk)
        with CallPool() as pool:
            calls = dispatcher.Dispatcher(pool)
            for _ in range(20):
                calls.take_turn(0.1)
            calls.finish()
        texts = [(body["model"], str(body["messages"])) for body in stub.bodies]
        assert len(texts) == len(set(texts))


def test_keep_to_the_concurrency_of_the_server() -> None:
    with ModelStub(accuracy_reply, seconds=0.02) as stub:
        run = make_model_run(stub.url)
        server = Endpoint.objects.all()[0].server
        server.concurrency = 3
        server.save()
        play(run, turns=20)
        assert stub.most_at_once == 3


def test_keep_to_the_rate_of_the_server() -> None:
    with ModelStub(accuracy_reply) as stub:
        run = make_model_run(stub.url)
        server = Endpoint.objects.all()[0].server
        server.requests_per_minute = 5
        server.save()
        play(run, turns=20)
        assert stub.calls == 5

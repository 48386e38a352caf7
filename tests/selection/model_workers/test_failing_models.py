"""A model that always fails holds nobody, and costs the others nothing."""

import time

import pytest

from packages.topk.tests.parameters import mostly_slow
from selection import engine
from selection.model_workers import claims, dispatcher, throttle
from selection.model_workers.call_pool import CallPool
from selection.models import Assignment, Endpoint, Run
from selection.runs.roster import failing_models
from tests.model_stub import ModelStub
from tests.selection.model_workers.conftest import make_model_run
from tests.selection.model_workers.test_dispatcher import accuracy_reply, record_replies

pytestmark = pytest.mark.django_db
# By algorithm: most calls, compared with a run without the failing model, which could make 1,000.
# Pairs of models share δ anew after one left, which costs answers.
ALGORITHMS = {"same-questions": 2.0, "lucb": 1.4}


@pytest.fixture(autouse=True)
def short_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (dispatcher, throttle):
        monkeypatch.setattr(module, "rest_seconds", lambda failures: 0.02 * failures)


def play(run: Run, seconds: float = 300.0) -> None:
    """Play as the Celery tasks do, until the run has ended."""
    with CallPool() as pool:
        calls, end = dispatcher.Dispatcher(pool, frozenset([run.pk])), time.monotonic() + seconds
        while run.status == Run.Status.RUNNING and time.monotonic() < end:
            failing_models.sweep_failing(run.pk)
            if claims.is_running_low(run.pk):
                engine.advance(run.pk)
            if not calls.take_turn(0.02):
                engine.advance(run.pk)  # as the sweep does
                time.sleep(0.01)
            run.refresh_from_db()
        calls.finish()


def make_run_of(stub: ModelStub, algorithm: str, models: int) -> Run:
    prices = {"price_in": 1, "price_out": 2, "max_tokens": 10, "temperature": 1}
    return make_model_run(
        stub.url, models=models, endpoint=prices, algorithm=algorithm, epsilon=0.3
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("status", mostly_slow([429, 500], ordinary=[500]))
def test_others_pay_no_more_beside_a_model_that_always_fails(algorithm: str, status: int) -> None:
    with ModelStub(accuracy_reply) as stub:
        alone = make_run_of(stub, algorithm, 5)
        play(alone)
        assert alone.ending == Run.Ending.GUARANTEE
        paid = stub.outcomes["replied"]
        stub.statuses["m5"] = status
        run = make_run_of(stub, algorithm, 6)
        play(run)
        more = stub.outcomes["replied"] - paid
    assert run.ending == Run.Ending.GUARANTEE
    assert more <= ALGORITHMS[algorithm] * paid
    assert stub.outcomes["status"] <= 12
    assert run.candidates.get(worker__key="w5").gone == "absent"
    told = run.events.get(kind="absent").what
    assert told.startswith("Set aside, because they never replied: “w5” (The server answered")
    assert run.certified


@pytest.mark.parametrize("status", mostly_slow([429, 500], ordinary=[500]))
def test_a_model_that_stops_replying_is_set_aside(status: int) -> None:
    with ModelStub(accuracy_reply) as stub:
        run = make_run_of(stub, "lucb", 6)
        while not run.candidates.filter(worker__key="w5", pulls__gt=2).exists():
            play(run, 0.1)
        stub.statuses["m5"] = status
        play(run)
    assert run.ending == Run.Ending.GUARANTEE
    row = run.candidates.get(worker__key="w5")
    assert (row.gone, row.pulls > 2) == ("left", True)
    assert "reply no more: “w5”" in run.events.get(kind="absent").what
    assert run.certified


def test_a_run_waits_for_a_failing_model_for_a_while_only() -> None:
    run = make_model_run("http://127.0.0.1:9/v1", models=3, k=1)
    engine.advance(run.pk)
    others = Assignment.objects.filter(candidate__run=run).exclude(candidate__worker__key="w1")
    record_replies(run, others)
    for failures in (1, 11):
        Endpoint.objects.filter(model="m1").update(failures=failures)
        assert engine.advance(run.pk) is None
    Endpoint.objects.filter(model="m1").update(failures=12)
    step = engine.advance(run.pk)
    assert step is not None
    assert step.dealt > 0


def test_one_limited_model_leaves_the_calls_of_its_server_alone() -> None:
    limits = throttle.Throttle(8)
    for _ in range(9):
        limits.note_refusal(1, 30.0)
    assert limits.room(0) == 8
    limits.note_reply()
    limits.note_refusal(1, 30.0)
    limits.note_refusal(2, 30.0)
    assert limits.room(0) == 0


def test_a_long_wait_that_a_server_asks_for_is_told_at_once() -> None:
    run = make_model_run("http://127.0.0.1:9/v1", models=3, k=1)
    outcome = dispatcher.Outcome(0, dispatcher.Fault.RATE, "Tomorrow.", retry_after=3600.0)
    endpoint = Endpoint.objects.get(model="m1")
    dispatcher._note_failures(endpoint.pk, [outcome])
    endpoint.refresh_from_db()
    assert (endpoint.problem, endpoint.failures) == ("Tomorrow.", 1)
    assert list(failing_models.list_failing(run)) == []  # it was not asked yet
    engine.advance(run.pk)
    assert [row.worker.key for row in failing_models.list_failing(run)] == ["w1"]

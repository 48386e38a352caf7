"""Money of a run: spent, needed for the rest, and the models that hold it up."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from selection.errors import Conflict, Refused
from selection.model_workers import endpoints, ledger, prices, spending
from selection.models import (
    Candidate,
    Endpoint,
    ModelCall,
    ModelServer,
    ModelSpending,
    Run,
    Team,
)
from selection.runs import lifecycle
from tests.selection.model_workers.conftest import make_model_run
from tests.worlds import make_pool, make_run

pytestmark = pytest.mark.django_db
OFF = "http://127.0.0.1:9/v1"


def test_the_rest_costs_the_mean_of_the_counted_answers():
    run = make_model_run(OFF)
    ModelSpending.objects.create(run=run, spent=2_000_000_000, in_flight=5, limit=10**10)
    report = spending.describe_spending(run, counted=40, needed=30)
    assert report.forecast == Decimal("1.5")
    assert (report.spent, report.in_flight, report.limit) == (2, Decimal("5e-9"), 10)
    assert spending.describe_spending(run, counted=0, needed=30).forecast is None
    assert spending.describe_spending(run, counted=40, needed=None).forecast is None


def test_a_limit_that_cannot_be_is_refused():
    run = make_model_run(OFF)
    for limit in (Decimal(-1), spending.MOST_LIMIT + 1):
        with pytest.raises(Refused, match="between 0 and 99,999,999"):
            spending.set_limit(run, limit)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    with pytest.raises(Conflict, match="has ended"):
        spending.set_limit(run, Decimal(1))
    assert not ModelSpending.objects.exists()


@pytest.mark.parametrize("start", [True, False])
def test_runs_of_models_and_of_people_are_told_apart(start, django_assert_num_queries):
    models, people = make_model_run(OFF, start=start), make_run(start=start)
    assert spending.has_models(models)
    assert not spending.has_models(people)
    noted = Run.objects.annotate(with_models=spending.with_models()).get(pk=people.pk)
    with django_assert_num_queries(0):
        assert not spending.has_models(noted)
        assert spending.failing_endpoints(noted) == []


def test_only_failing_models_that_still_take_part_block_a_run():
    run = make_model_run(OFF, models=4)
    soon = timezone.now() + timedelta(seconds=2)
    long = timezone.now() + timedelta(minutes=5)
    for key, failures, rests in (
        ("w0", 1, soon),
        ("w1", 3, soon),
        ("w2", 1, long),
        ("w3", 9, long),
    ):
        rows = Endpoint.objects.filter(worker__key=key)
        rows.update(problem="It failed.", failures=failures, rests_until=rests)
    Candidate.objects.filter(run=run, worker__key="w3").update(gone=Candidate.Gone.WITHDRAWN)
    failing = spending.failing_endpoints(run)
    assert [endpoint.worker.key for endpoint in failing] == ["w1", "w2"]


def test_a_dear_claim_leaves_the_money_of_the_calls_in_flight() -> None:
    budget = ModelSpending(run_id=1, limit=100, spent=0, in_flight=80)
    calls = [ModelCall(run_id=1, reserved=40, state=ModelCall.State.SENT) for _ in range(2)]
    for call, claim in zip(calls, (90, 40), strict=True):
        ledger.settle(call, budget, claim)
    assert [call.cost for call in calls] == [60, 40]
    assert (budget.spent, budget.in_flight) == (100, 0)


def test_a_cost_is_rounded_up() -> None:
    endpoint = Endpoint(price_in=Decimal("0.0001"), price_out=Decimal(0), price_call=Decimal(0))
    assert [prices.cost_of_tokens(endpoint, tokens, 0) for tokens in (0, 1, 10, 11)] == [0, 1, 1, 2]


def test_models_of_another_team_s_server_are_refused() -> None:
    server = ModelServer.objects.create(
        name="theirs", url="http://127.0.0.1:9/v1", team=Team.objects.create(name="other")
    )
    pool = make_pool(0)
    with pytest.raises(Refused, match="is another team's"):
        endpoints.store_endpoints(pool, [("m", Endpoint(server=server, model="m"))])
    assert not pool.workers.exists()

"""Runs that spend by price: the prices of people and models, and their effects."""

import csv
import io
import json
from decimal import Decimal
from typing import Any

import pytest

from selection import engine, exports, reports
from selection.errors import Refused
from selection.model_workers import spending
from selection.models import Assignment, Endpoint, ModelCall, ModelServer, Pool, Run, Worker
from selection.runs import lifecycle
from selection.runs.roster import enrolment, membership, worker_prices
from selection.runs.settings import drafts, validation
from tests.worlds import crowd, make_pool, make_questions, make_run, play
from topk.verify import verify_dump

pytestmark = pytest.mark.django_db

RULE: dict[str, Any] = {"algorithm": "universal", "epsilon": 0.2, "k": 2, "slots": 60}


def priced(*prices: str) -> Pool:
    return make_pool(8, price=prices)


def cost_of(run: Run) -> int:
    """Return the price of all answers, if odd workers cost 20 and the others 1."""
    rows = run.candidates.values_list("worker__key", "asked")
    return sum(asked * (20 if int(key[1:]) % 2 else 1) for key, asked in rows)


def played(pool: Pool, **fields: Any) -> Run:
    return play(make_run(pool=pool, **RULE | fields), crowd(3, good=5))


def add_model(pool: Pool, key: str, **endpoint: Any) -> Worker:
    server, _ = ModelServer.objects.get_or_create(name="here", url="http://localhost/v1")
    worker = Worker.objects.create(pool=pool, key=key)
    Endpoint.objects.create(worker=worker, server=server, model="m", **endpoint)
    return worker


def add_reply(run: Run, worker: Worker, tokens_in: int, tokens_out: int) -> None:
    now = run.created
    question = run.question_set.questions.first()
    columns = {"tokens_in": tokens_in, "tokens_out": tokens_out, "state": ModelCall.State.REPLIED}
    ModelCall.objects.create(worker=worker, question=question, sent=now, expires=now, **columns)


def test_a_run_asks_cheap_workers_more_and_its_result_is_exported():
    more = {"slots_per_worker": 20, "k": 5, "question_set": make_questions(200)}
    run = played(make_pool(30, price=["1", "20"]), by_price=True, **more)
    blind = played(make_pool(30, price=["1", "20"]), **more)
    assert run.ending == blind.ending == "guarantee"
    assert cost_of(run) < cost_of(blind)
    text = b"".join(exports.make_file(run, "csv").pieces).decode("utf-8-sig")
    exported = {row["worker"] for row in csv.DictReader(io.StringIO(text))}
    assert exported == set(run.candidates.filter(verdict=1).values_list("worker__key", flat=True))
    assert len(exported & {f"w{i}" for i in range(5)}) >= 4  # of the five good: ε is .2
    status = reports.guarantee_of_run(run)
    assert "prices tell nothing of accuracy" in status.assumptions
    assert "prices tell nothing" not in reports.guarantee_of_run(blind).assumptions
    document = json.loads(json.dumps(reports.dump_run(run, anonymous=True)))
    assert sorted(document["run"]["options"]["prices"]) == [1.0] * 15 + [20.0] * 15
    assert not verify_dump(document).findings


def test_equal_prices_give_the_same_answers():
    questions = make_questions(200)
    run = played(priced("3"), by_price=True, question_set=questions)
    blind = played(priced("3"), question_set=questions)

    def dealt(run: Run) -> list[tuple[str, int, int]]:
        rows = Assignment.objects.filter(candidate__run=run)
        rows = rows.order_by("step", "candidate__arm", "position")
        return list(rows.values_list("candidate__worker__key", "question__number", "step"))

    assert dealt(run) == dealt(blind)
    assert "prices tell nothing" not in reports.guarantee_of_run(run).assumptions


def test_rules_without_prices_refuse():
    run = make_run(pool=priced("1", "2"), start=False, by_price=True, algorithm="certified")
    faults = validation.validate_stored_run(run, 8)
    assert faults == {"by_price": "Certified does not spend by price; Universal can."}
    with pytest.raises(Refused, match="Certified does not spend by price"):
        lifecycle.start_run(run)


@pytest.mark.parametrize(
    ("price", "message"),
    [
        ("", "“w0” has no price, or the price 0. To spend by price, give the run a price per"),
        ("0", "“w0” has no price, or the price 0"),
        ("cheap", "The price of “w0” is “cheap”: give a number above 0, like 0.12."),
        ("nan", "The price of “w0” is “nan”: give a number above 0"),
        ("-1", "The price of “w0” is “-1”: give a number above 0"),
    ],
)
def test_a_worker_without_a_price_is_named(price: str, message: str):
    run = make_run(pool=priced(price), start=False, by_price=True, **RULE)
    with pytest.raises(Refused, match=message.replace(".", r"\.")):
        lifecycle.start_run(run)


def test_a_person_without_a_price_costs_the_price_per_answer():
    run = make_run(pool=priced("0.5", ""), by_price=True, price=Decimal("0.25"), **RULE)
    by_worker = dict(run.candidates.values_list("worker__key", "arm"))
    prices = [run.options["prices"][by_worker[f"w{i}"]] for i in range(8)]
    assert prices == [0.5, 0.25] * 4


def test_models_cost_their_tokens():
    pool = make_pool(2, price=["0.5"])
    measured = add_model(pool, "m0", price_in=10, price_out=100)
    other = add_model(pool, "m1", price_in=20, price_out=200)
    by_call = add_model(pool, "m2", price_call=Decimal("0.002"))
    run = make_run(pool=pool, start=False, by_price=True, **RULE)
    workers = list(pool.workers.order_by("id"))
    first = worker_prices.list_prices(run, workers)
    assert first[:2] == [0.5, 0.5]
    # Nothing is measured: the most that a call can cost, 512 tokens of output included.
    assert first[2] > 512 * 100 / 1e6
    assert (first[3], first[4]) == (pytest.approx(2 * first[2]), 0.002)
    add_reply(run, measured, 40, 2)
    add_reply(run, measured, 60, 4)
    now = worker_prices.list_prices(run, [measured, other, by_call])
    assert now == pytest.approx([800e-6, 1600e-6, 2000e-6])
    Endpoint.objects.filter(worker=by_call).update(price_call=0)
    with pytest.raises(Refused, match=r"“m2” has no price, or the price 0\. .* of its tokens"):
        worker_prices.list_prices(run, workers)


def test_joining_workers_get_a_price_and_leaving_workers_take_theirs_along():
    run = make_run(pool=priced("1", "2"), by_price=True, enrolling=True, price=9, **RULE)
    enrolment.enrol_worker(run, "late", attributes={"price": "7"})
    enrolment.enrol_worker(run, "later")
    run.refresh_from_db()
    assert run.options["prices"][-2:] == [7.0, 9.0]
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w0"])
    assert engine.advance(run.pk) is not None
    assert "prices tell nothing of accuracy" in reports.guarantee_of_run(run).assumptions


@pytest.mark.parametrize(("algorithm", "needed"), [("universal", True), ("lucb", False)])
def test_a_limit_in_money_adds_an_assumption_if_the_end_matters(algorithm, needed):
    run = make_run(pool=priced("1"), **RULE | {"algorithm": algorithm})
    assert "limit in money" not in reports.guarantee_of_run(run).assumptions
    spending.set_limit(run, Decimal(3))
    assert ("limit in money" in reports.guarantee_of_run(run).assumptions) == needed


def test_an_open_roster_needs_a_price_per_answer():
    run = make_run(pool=priced("1"), by_price=True, enrolling=True, start=False, **RULE)
    with pytest.raises(Refused, match="Give a price per answer"):
        lifecycle.start_run(run)


def test_a_copy_spends_by_price_and_gets_its_own_prices():
    run = make_run(pool=priced("1", "2"), by_price=True, **RULE)
    copied = drafts.copy_run(run, "Again")
    assert copied.by_price
    assert "prices" not in copied.options


def test_forecasts_count_with_the_mean_price_of_the_models():
    pool = make_pool(1)
    first = add_model(pool, "m0", price_in=10, price_out=100)
    add_model(pool, "m1", price_call=Decimal("0.003"))
    run = make_run(pool=pool, start=False, **RULE)

    def expected(price: Decimal | None) -> Any:
        return worker_prices.expected_price(pool, run.question_set, price)

    assert expected(None) is None  # the person's price is not known
    most = expected(Decimal("0.3"))
    assert most.tokens is None
    assert "no model has been called yet" in worker_prices.describe_basis(most, "$")
    add_reply(run, first, 50, 5)
    mean = expected(Decimal("0.3"))
    assert mean.amount == (Decimal("0.001") + Decimal("0.003") + Decimal("0.3")) / 3
    assert mean.tokens == 55
    assert worker_prices.format_price(300, mean, "$") == "30.40 $"
    words = worker_prices.describe_basis(mean, "$")
    assert words.startswith("An answer costs 0.101 $ on average")
    assert "about 55 for a call" in words
    people = make_pool(2)
    assert worker_prices.expected_price(people, run.question_set, Decimal(2)) == 2
    assert worker_prices.describe_basis(Decimal(2), "$") == ""

"""Prices of an answer by worker, in a run that spends by price; its start fixes them.

A model's price is the cost that a call is expected to have. A person's is their attribute “price”,
or else the run's price per answer. Forecasts count with the mean of the pool.
"""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from selection import algorithms
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.model_workers import expected_costs
from selection.model_workers.expected_costs import ExpectedCost
from selection.models import Endpoint, Pool, QuestionSet, Run, Worker
from selection.runs import money
from selection.viewer_locale import format_count

from . import eligibility, quotas

ATTRIBUTE = "price"


def validate_prices(run: Run) -> dict[str, str]:
    """Find the fault of a run that spends by price, by field: of its rule or of its workers."""
    if not run.by_price:
        return {}
    if not algorithms.takes_prices(run.algorithm):
        able = [ALGORITHMS[name].title for name in ALGORITHMS if algorithms.takes_prices(name)]
        reason = f"{run.selector_class.title} does not spend by price; {' and '.join(able)} can."
        return {"by_price": reason}
    if run.enrolling and not run.price:
        return {"price": "Give a price per answer: workers that join may have no other."}
    try:
        list_prices(run, list(eligibility.eligible_workers(run)))
    except Refused as refusal:
        return {"by_price": str(refusal)}
    return {}


def list_prices(run: Run, workers: Sequence[Worker]) -> list[float]:
    """Price each of these workers. Raises Refused, naming one without a price."""
    costs = estimate_model_costs(run.pool, run.question_set)
    prices = []
    for worker in workers:
        price = costs[worker.pk].amount if worker.pk in costs else _price_of_person(run, worker)
        if not price:
            raise Refused(f"“{worker}” has no price, or the price 0. {_advise(worker.pk in costs)}")
        prices.append(float(price))
    return prices


AnswerPrice = Decimal | ExpectedCost | None


def expected_price(pool: Pool, question_set: QuestionSet, price: Decimal | None) -> AnswerPrice:
    """Average the price of an answer of a pool; ``price`` if it has no models.

    price  of a person's answer

    It is None if nothing is known, and if all models are free.
    """
    costs = estimate_model_costs(pool, question_set)
    people = pool.workers.filter(endpoint=None).count()
    if not costs:
        return price
    total = sum((cost.amount for cost in costs.values()), Decimal(0))
    if not total or (people and price is None):
        return None
    total += people * (price or Decimal(0))
    tokens = [cost.tokens for cost in costs.values()]
    counts = [count for count in tokens if count is not None]
    size = len(costs) + people
    return ExpectedCost(total / size, sum(counts) / len(counts) if counts else None)


def estimate_model_costs(pool: Pool, question_set: QuestionSet) -> dict[int, ExpectedCost]:
    rows = Endpoint.objects.filter(worker__pool=pool).select_related("server", "worker__pool")
    return expected_costs.estimate_costs(list(rows), question_set)


def compute_cost(answers: int, price: AnswerPrice, currency: str) -> Decimal | None:
    """Compute the price of so many answers; None if it is unknown."""
    if isinstance(price, ExpectedCost):
        return price.amount * answers
    return None if price is None else money.compute_cost(answers, price, currency)


def format_price(answers: int, price: AnswerPrice, currency: str) -> str:
    """Word the price of so many answers; empty if it is unknown."""
    cost = compute_cost(answers, price, currency)
    if cost is None:
        return ""
    calls = isinstance(price, ExpectedCost)
    return (money.format_call_cost if calls else money.format_amount)(cost, currency)


def describe_basis(price: AnswerPrice, currency: str) -> str:
    """Name the origin of a price that comes from models; empty for another."""
    if not isinstance(price, ExpectedCost):
        return ""
    one = format_price(1, price, currency)
    if price.tokens is None:
        return (
            f"Costs are the most that the calls can cost, {one} on average: no model has been "
            "called yet. A test call makes the estimate closer."
        )
    return (
        f"An answer costs {one} on average, by the models’ prices and the mean tokens of their "
        f"calls (about {format_count(round(price.tokens))} for a call)."
    )


def _price_of_person(run: Run, worker: Worker) -> Decimal | None:
    text = quotas.value_of(worker.attributes, ATTRIBUTE)
    if text == quotas.NOT_GIVEN:
        return run.price
    try:
        price = Decimal(text)
    except InvalidOperation:
        price = Decimal(-1)
    if not price.is_finite() or price < 0:
        raise Refused(f"The price of “{worker}” is “{text}”: give a number above 0, like 0.12.")
    return price


def _advise(is_model: bool) -> str:
    if is_model:
        return "To spend by price, enter the price of its tokens or calls in its settings."
    return f"To spend by price, give the run a price per answer, or the attribute “{ATTRIBUTE}”."

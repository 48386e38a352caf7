"""Prices of an answer by worker, in a run that spends by price; its start fixes them.

A model's price is the cost that a call is expected to have. A person's is their attribute “price”,
or else the run's price per answer.
"""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from selection import algorithms
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.model_workers import expected_costs
from selection.models import Endpoint, Run, Worker

from . import eligibility, quotas

ATTRIBUTE = "price"


def validate_prices(run: Run) -> dict[str, str]:
    """Return the fault of a run that spends by price, by field: of its rule or of its workers."""
    if not run.by_price:
        return {}
    if not algorithms.takes_prices(run.algorithm):
        able = [ALGORITHMS[name].title for name in ALGORITHMS if algorithms.takes_prices(name)]
        reason = f"{run.selector_class.title} does not spend by price; {' and '.join(able)} can."
        return {"by_price": reason}
    if run.enrolling and not run.price:
        return {"price": "Give a price per answer: the workers who join may have no other."}
    try:
        list_prices(run, list(eligibility.eligible_workers(run)))
    except Refused as refusal:
        return {"by_price": str(refusal)}
    return {}


def list_prices(run: Run, workers: Sequence[Worker]) -> list[float]:
    """Return the price of each of these workers. Raises Refused, naming one without a price."""
    rows = Endpoint.objects.filter(worker__in=workers).select_related("server", "worker__pool")
    costs = expected_costs.estimate_costs(list(rows), run.question_set)
    prices = []
    for worker in workers:
        price = costs[worker.pk].amount if worker.pk in costs else _price_of_person(run, worker)
        if not price:
            raise Refused(f"“{worker}” has no price, or the price 0. {_advise(worker.pk in costs)}")
        prices.append(float(price))
    return prices


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

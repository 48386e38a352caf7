"""The cost that a call of each model is expected to have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg

from selection.errors import Refused
from selection.models import Endpoint, ModelCall, QuestionSet

from . import prices
from .prompts import build_prompt


@dataclass(frozen=True)
class ExpectedCost:
    """The cost of a call in the currency's unit.

    tokens  of the call; None if no call was made: then ``amount`` is the most that it can cost
    """

    amount: Decimal
    tokens: float | None


def estimate_costs(
    endpoints: Sequence[Endpoint], question_set: QuestionSet
) -> dict[int, ExpectedCost]:
    """Estimate the cost of a call of each model, by worker, at its present prices.

    Tokens are the means of the model's replies so far, test calls included; those of the other
    models if it has none. As long as no model has any, it is the most that a call for the first
    question can cost.
    """
    tokens = _mean_tokens(endpoint.pk for endpoint in endpoints)
    if not tokens:
        return {one.pk: ExpectedCost(most_cost(one, question_set), None) for one in endpoints}
    typical = [sum(column) / len(tokens) for column in zip(*tokens.values(), strict=True)]
    costs = {}
    for endpoint in endpoints:
        tokens_in, tokens_out = map(Decimal, tokens.get(endpoint.pk, typical))
        nano = prices.cost_of_tokens(endpoint, tokens_in, tokens_out)
        costs[endpoint.pk] = ExpectedCost(prices.to_amount(nano), float(tokens_in + tokens_out))
    return costs


def _mean_tokens(workers: Iterable[int]) -> dict[int, tuple[float, float]]:
    """Average the input and output tokens of the replies of each worker that has any."""
    calls = ModelCall.objects.filter(worker__in=[*workers], state=ModelCall.State.REPLIED)
    calls = calls.exclude(tokens_in=None).exclude(tokens_out=None).order_by()
    means = {"mean_in": Avg("tokens_in"), "mean_out": Avg("tokens_out")}
    rows = calls.values_list("worker").annotate(**means)
    return {worker: (mean_in, mean_out) for worker, mean_in, mean_out in rows}


def most_cost(endpoint: Endpoint, question_set: QuestionSet) -> Decimal:
    question = question_set.questions.order_by("number").first()
    try:
        tokens = build_prompt(endpoint, question).tokens if question else 0
    except Refused:  # the start refuses the question, with the reason
        tokens = 0
    return prices.to_amount(prices.most_cost(endpoint, tokens))

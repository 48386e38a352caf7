"""Prices of calls, in billionths of the currency's unit, so that sums are exact."""

import math
from decimal import Decimal

from selection.models import Endpoint
from selection.models.model_workers import NANO

from .completions import Outcome

HIDDEN_IN, HIDDEN_OUT = 8_000, 32_000  # tokens besides those of the request and its limit
MOST_OVERRUN = 4
PER_TOKEN = Decimal(NANO) / 1_000_000  # of a price for a million tokens


def most_cost(endpoint: Endpoint, tokens: int) -> int:
    """Bound the cost of a call with at most so many input tokens.

    Twice the dearest reply of a server that charges more than the request allows.
    """
    by_request = cost_of_tokens(endpoint, tokens, endpoint.most_tokens)
    return max(by_request, 2 * (endpoint.dearest or 0))


def most_claim(endpoint: Endpoint, reserved: int) -> int:
    """Bound the plausible charge for a call for which so much is reserved.

    Servers may add hidden instructions and thoughts; those that did have shown how many.
    """
    extra = 0 if endpoint.dearest else cost_of_tokens(endpoint, HIDDEN_IN, HIDDEN_OUT)
    return MOST_OVERRUN * reserved + extra


def actual_cost(endpoint: Endpoint, outcome: Outcome, reserved: int) -> int:
    """Price a call; what was reserved for it, if its tokens are not known."""
    if outcome.fault is not None:
        return reserved if outcome.charged else 0
    if outcome.tokens_in is None or outcome.tokens_out is None:
        return reserved
    return cost_of_tokens(endpoint, outcome.tokens_in, outcome.tokens_out)


def to_amount(nano: int) -> Decimal:
    return Decimal(nano) / NANO


def to_nano(amount: Decimal | float | str) -> int:
    return int(Decimal(str(amount)) * NANO)


def cost_of_tokens(endpoint: Endpoint, tokens_in: Decimal | int, tokens_out: Decimal | int) -> int:
    """Price a call with so many tokens, rounded up."""
    tokens = tokens_in * endpoint.price_in + tokens_out * endpoint.price_out
    return math.ceil(tokens * PER_TOKEN + endpoint.price_call * NANO)

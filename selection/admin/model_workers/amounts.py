"""Costs of calls for people: they may be far below what can be paid."""

from decimal import Context, Decimal

from selection import viewer_locale
from selection.runs import money

DIGITS = 3  # of an amount below 1


def format_call_cost(amount: Decimal, currency: str = "") -> str:
    """Return the amount with its currency: €12.50, 0.0000240 becomes €0.000024."""
    if amount == 0 or amount >= 1:
        return money.format_amount(amount, currency)
    short = amount.normalize(Context(prec=DIGITS))
    return viewer_locale.format_currency(short, currency, money.count_places(short, currency))

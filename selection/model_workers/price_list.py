"""Published prices of models in US dollars, from the package genai-prices."""

from collections.abc import Iterable
from decimal import Decimal

from genai_prices import Usage, __version__, calc_price

from .model_files import ModelEntry

PRICES = ("price_in", "price_out", "price_call")
DOLLARS = ("$", "USD", "US$")
SOURCE = f"genai-prices {__version__}"
TOKENS = 1_000  # priced: below the tiers of long requests
ADVICE = "its calls count as free: give price_in and price_out to count and to limit the money"


def find_prices(url: str, model: str) -> dict[str, Decimal]:
    """Find the prices of a model by its server's address; empty if they are not known."""
    try:
        usage = Usage(input_tokens=TOKENS, output_tokens=TOKENS)
        price = calc_price(usage, model, provider_api_url=url)
    except (LookupError, ValueError):
        return {}
    per_million = [part * 1_000_000 / TOKENS for part in (price.input_price, price.output_price)]
    call = price.total_price - price.input_price - price.output_price
    return dict(zip(PRICES, (*per_million, call), strict=True))


def fill_prices(models: Iterable[ModelEntry], urls: dict[str, str], currency: str) -> list[str]:
    """Give models without a price their published one; tell in sentences where prices are from.

    urls  of the servers by their names. The list is in dollars, and used for these only.
    """
    notes = dict[str, None]()
    for entry in models:
        if any(name in entry.values for name in PRICES):
            continue
        model = str(entry.values["model"])
        prices = find_prices(urls.get(entry.server, ""), model) if currency in DOLLARS else {}
        entry.values.update({name: round(float(price), 6) for name, price in prices.items()})
        if prices:
            figures = [f"{prices[name].normalize():f}" for name in PRICES[:2]]
            note = f"{figures[0]} $ in, {figures[1]} $ out per million tokens, from {SOURCE}"
            notes[f"“{model}” at “{entry.server}”: {note}."] = None
        else:
            notes[f"“{model}” at “{entry.server}” has no known price; {ADVICE}."] = None
    return list(notes)

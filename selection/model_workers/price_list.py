"""Published prices of models in US dollars, from the package genai-prices."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from genai_prices import Usage, __version__, calc_price

from selection.models import Endpoint

from .model_files import ModelEntry

Prices = Mapping[str, Decimal]

PRICES = ("price_in", "price_out", "price_call")
DOLLARS = ("$", "USD", "US$")
SOURCE = f"genai-prices {__version__}"
TOKENS = 1_000  # priced: below the tiers of long requests
ADVICE = "its calls count as free: give price_in and price_out to count and to limit the money"
VERSION = re.compile(r"([-@](latest|preview|exp|\d{4}-\d\d-\d\d|\d\d-\d\d|\d{3,8})){1,6}$")


def find_prices(url: str, model: str) -> dict[str, Decimal]:
    """Find the prices of a model by its server's address; empty if not known for sure."""
    url = _keep_host(url)
    try:
        usage = Usage(input_tokens=TOKENS, output_tokens=TOKENS)
        price = calc_price(usage, model, provider_api_url=url)
    except (LookupError, ValueError):
        return {}
    if not (_is_host(price.provider.api_pattern, url) and _is_spelled(price.model, model.lower())):
        return {}
    per_million = [part * 1_000_000 / TOKENS for part in (price.input_price, price.output_price)]
    call = price.total_price - price.input_price - price.output_price
    return dict(zip(PRICES, (*per_million, call), strict=True))


def _keep_host(url: str) -> str:
    """Write the host in small letters, and the path without dots, unlike a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.replace('.', '-')}"


def _is_host(pattern: str, url: str) -> bool:
    """Tell if the provider's pattern covers the whole host, or all except its last label."""
    match, host = re.match(pattern, url), len(url) - len(urlsplit(url).path)
    rest = url[match.end() : host] if match else "."
    return not rest or (url[: host - len(rest)].endswith(".") and rest.isalpha())


def _is_spelled(entry: Any, model: str) -> bool:
    """Tell if the list has this name, or the name before a version, and not only a part."""
    names = {entry.id.lower(), *_list_texts(entry.match)}
    return model in names or VERSION.sub("", model) in names


def _list_texts(clause: Any) -> Iterator[str]:
    for value in vars(clause).values():
        if isinstance(value, list):
            for part in value:
                yield from _list_texts(part)
        else:
            yield value.lower()


def find_missing_prices(endpoint: Endpoint) -> dict[str, Decimal]:
    """Find the published prices of a model without a price."""
    if any(getattr(endpoint, name) for name in PRICES):
        return {}
    return find_prices(endpoint.server.url, endpoint.model)


def describe_prices(prices: Prices) -> str:
    """Write “$0.15 in, $0.60 out per million tokens”; empty without prices."""
    if not prices:
        return ""
    price_in, price_out, call = (_format_dollars(prices[name]) for name in PRICES)
    more = f", {call} per call" if prices["price_call"] else ""
    return f"{price_in} in, {price_out} out per million tokens{more}"


def _format_dollars(price: Decimal) -> str:
    return f"${price:.2f}" if price == round(price, 2) else f"${price.normalize():f}"


def find_published(models: Sequence[ModelEntry], urls: dict[str, str]) -> dict[int, Prices]:
    """Find the published prices of the models without a price, by their places in the file.

    urls  of the servers by their names
    """
    prices = {
        place: find_prices(urls.get(entry.server, ""), str(entry.values["model"]))
        for place, entry in enumerate(models)
        if not any(name in entry.values for name in PRICES)
    }
    return {place: row for place, row in prices.items() if row}


def fill_prices(models: Sequence[ModelEntry], urls: dict[str, str], currency: str) -> list[str]:
    """Give models without a price their published one; tell in sentences where prices are from.

    urls  of the servers by their names. The list is in dollars, and used for these only.
    """
    notes, prices_by_place = dict[str, None](), find_published(models, urls)
    for place, entry in enumerate(models):
        if any(name in entry.values for name in PRICES):
            continue
        model = str(entry.values["model"])
        prices = prices_by_place.get(place, {}) if currency in DOLLARS else {}
        entry.values.update({name: round(float(price), 6) for name, price in prices.items()})
        if prices:
            notes[f"“{model}” at “{entry.server}”: {describe_prices(prices)} ({SOURCE})."] = None
        else:
            notes[f"“{model}” at “{entry.server}” has no known price; {ADVICE}."] = None
    return list(notes)

"""Published prices: found by address and model, only if none is given."""

import pytest

from selection.model_workers.model_files import ModelFile
from selection.model_workers.price_list import SOURCE, fill_prices, find_prices

OPENAI = "https://api.openai.com/v1"
LISTED = "models: [{server: s, model: gpt-4o-mini}, {server: s, model: gpt-4o, price_in: 0}]"


@pytest.mark.parametrize(
    ("url", "model", "known"),
    [
        (OPENAI, "gpt-4o-mini", True),
        ("https://api.anthropic.com/v1/", "claude-3-5-haiku-latest", True),
        (OPENAI, "nobodys-model", False),
        ("http://localhost:11434/v1", "gpt-4o-mini", False),
        ("https://example.org/api.openai.com", "gpt-4o-mini", False),
        ("", "gpt-4o-mini", False),
        ("https://API.openai.com/v1", "GPT-4o-mini", True),
        ("https://api.anthropic.com/v1/", "claude-3-5-haiku-20241022", True),
        ("https://api.moonshot.ai/v1", "kimi-k2-0905-preview", True),
        # Servers and models that only look like those of the list.
        ("https://api.anthropic.com/v1/", "claude-3-5-haiku-of-mine", False),
        (OPENAI, "ft:gpt-4o-mini:me::abc", False),
        ("https://api.openai.com.example.org/v1", "gpt-4o-mini", False),
        ("https://api.openai.com@example.org/v1", "gpt-4o-mini", False),
        ("https://api.moonshot.example.org/v1", "kimi-k2-0905-preview", False),
        ("https://example.org/x.googleapis.com/v1", "gemini-2.0-flash", False),
        ("https://[", "gpt-4o-mini", False),
    ],
)
def test_prices_are_of_the_servers_provider(url: str, model: str, known: bool) -> None:
    prices = find_prices(url, model)
    assert bool(prices) is known
    assert not known or 0 < prices["price_in"] < prices["price_out"] < 100


def test_given_prices_stay_and_the_source_is_told() -> None:
    file = ModelFile(LISTED)
    [note] = fill_prices(file.models, {"s": OPENAI}, "$")
    assert note == (f"“gpt-4o-mini” at “s”: $0.15 in, $0.60 out per million tokens ({SOURCE}).")
    assert [one.values["price_in"] for one in file.models] == [0.15, 0]
    assert "price_out" not in file.models[1].values


@pytest.mark.parametrize(("url", "currency"), [(OPENAI, "€"), ("http://localhost/v1", "$")])
def test_unknown_prices_are_told(url: str, currency: str) -> None:
    file = ModelFile(LISTED)
    [note] = fill_prices(file.models, {"s": url}, currency)
    assert note.startswith("“gpt-4o-mini” at “s” has no known price; its calls count as free")
    assert "price_in" not in file.models[0].values

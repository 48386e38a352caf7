"""Models in YAML: grids, names, and faults with their line and column."""

import pytest

from selection.errors import Refused
from selection.model_workers.model_files import ModelFile
from selection.models import ModelServer

GRID = """
servers:
  local:
    url: http://127.0.0.1:11434/v1
    concurrency: 4
models:
  - server: local
    model: [small, large]
    prompt:
      short: Be short.
      long: Think first.
    temperature: [0, 0.7]
    price_in: 0.25
"""


def servers() -> dict[str, ModelServer]:
    return {"local": ModelServer(name="local", url="http://127.0.0.1:11434/v1", team_id=1)}


def test_a_grid_has_every_combination_once() -> None:
    endpoints = dict(ModelFile(GRID).build_endpoints(servers()))
    assert len(endpoints) == 8
    endpoint = endpoints["large, long, t=0.7"]
    assert endpoint.model == "large"
    assert endpoint.system_prompt == "Think first."
    assert endpoint.temperature == 0.7
    assert endpoint.price_in == 0.25
    assert str(endpoint.price_out) == "0"


def test_names_follow_a_pattern() -> None:
    text = GRID.replace(
        "  - server: local", '  - server: local\n    name: "{prompt}/{model}/{temperature}"'
    )
    assert ModelFile(text).models[0].worker == "short/small/0"


def test_the_name_of_a_single_model_is_its_own() -> None:
    assert [one.worker for one in ModelFile("models: [{model: m, server: s}]").models] == ["m"]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("", "Line 1: the file has no “models”"),
        ("models: [", "Line 1, column 10: not valid YAML"),
        ("modells: []", "Line 1, column 1: there is no “modells” here"),
        ("models: []", "Line 1, column 1: “models” is a list with one entry at least"),
        ("models:\n  - model: m", "Line 2, column 5: the entry has no “server”."),
        (
            "models:\n  - {model: m, server: local, prise: 3}",
            "Line 2, column 31: there is no “prise” here",
        ),
        (
            "models:\n  - model: m\n    server: local\n    max_tokens: 0",
            "Line 4, column 5: max_tokens: ",
        ),
        (
            "models:\n  - model: m\n    server: local\n    temperature: [0, hot]",
            "Line 4, column 5: temperature: ",
        ),
        (
            "models:\n  - model: m\n    server: local\n    template: '{qestion}'",
            "Line 4, column 5: template: The template has the placeholder {qestion}",
        ),
        (
            "models:\n  - model: m\n    server: local\n    parsing: guess",
            "Line 4, column 5: parsing: “guess” is unknown; there are auto, letter, word, json,",
        ),
        (
            "models:\n  - model: m\n    server: local\n    system_prompt: [a, b]",
            "Line 4, column 5: system_prompt: Give one value, not a list.",
        ),
        (
            "models:\n  - model: m\n    server: local\n    prompt: {a: {b: c}}",
            "Line 4, column 5: prompt: Give one value, not a mapping.",
        ),
        (
            "models:\n  - model: m\n    server: local\n    parsing: [auto, word]",
            "Line 4, column 5: parsing: Give one value, not a list.",
        ),
        (
            "models:\n  - model: {a: b}\n    server: local",
            "Line 2, column 5: model: Give one value, not a mapping.",
        ),
        (
            "models:\n  - model: m\n    server: [local]",
            "Line 3, column 5: “server” is one name.",
        ),
        (
            "models:\n  - model: m\n    server: local\n    temperature: [0, yes]",
            "Line 4, column 5: temperature: YAML reads yes, no, on and off as true and false",
        ),
        (
            "models:\n  - model: m\n    server: local\n    prompt: a\n    system_prompt: b",
            "Line 5, column 5: give “prompt” or “system_prompt”, not both.",
        ),
        (
            "models:\n  - model: m\n    server: local\n    model: n",
            "Line 4, column 5: “model” is given twice.",
        ),
        (
            "models:\n  - model: m\n\tserver: local",
            "Indent with spaces, and put a text with special characters in quotes.",
        ),
        ("models:\n  model: m", "is a list with one entry at least, which begins with a dash."),
        ("models:\n  - {model: m, server: far}", "Line 2, column 16: there is no server “far”"),
        (
            "models:\n  - {model: m, server: local}\n  - {model: m, server: local}",
            "Line 3, column 5: the worker “m” is there already",
        ),
        ("models:\n  - {model: m, server: local, name: '{x}'}", "Line 2, column 31: the name"),
        ("servers: {a: {}}\nmodels: []", "Line 1, column 11: the server “a” has no url."),
        ("models: !!python/object:os.system {}", "not valid YAML"),
    ],
)
def test_a_fault_is_told_with_its_place(text: str, refusal: str) -> None:
    with pytest.raises(Refused) as caught:
        ModelFile(text).build_endpoints(servers())
    assert refusal in str(caught.value)


def test_a_grid_has_a_limit() -> None:
    with pytest.raises(Refused, match="at most 1,000 workers"):
        ModelFile(f"models: [{{server: s, model: {list(range(50))}, seed: {list(range(50))}}}]")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Be short.", '"a\\0b"', "Line 10, column 14: the text has a character that cannot be"),
        ("Be short.", '"a\\ud800b"', "Line 10, column 14: the text has a character that cannot be"),
        ("short:", '"s\\0":', "Line 10, column 7: the text has a character that cannot be"),
        ("short:", '"s\\u200b":', "has a character that nobody sees (U+200B)"),
    ],
)
def test_texts_that_cannot_be_stored_or_seen_are_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(Refused) as refused:
        ModelFile(GRID.replace(old, new))
    assert words in str(refused.value)

"""The notebook of the documentation, run against a model server: cell by cell, to the selection."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.model_stub import PROMPT_TOKENS, REPLY_TOKENS, ModelStub

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "best-prompts.ipynb"
CELLS = [
    "".join(cell["source"])
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    if cell["cell_type"] == "code"
]
BEST = ("rules", "cause", "example")


@pytest.fixture
def run_notebook(monkeypatch):
    """A function that runs all cells with these variables, and returns names and the server."""

    def run(**variables: str) -> tuple[dict[str, Any], ModelStub]:
        names: dict[str, Any] = {}
        with ModelStub(lambda model, text: reply_to(stub, names, text)) as stub:
            for name, value in {
                "OPENAI_BASE_URL": stub.url,
                "OPENAI_API_KEY": "key",
                **variables,
            }.items():
                monkeypatch.setenv(name, value)
            for cell in CELLS:
                exec(compile(cell, str(NOTEBOOK), "exec"), names)
            names["client"].close()
        return names, stub

    return run


def reply_to(stub: ModelStub, names: dict[str, Any], text: str) -> str:
    """Return the right answer to a good prompt, and to others only for each second message."""
    prompt = stub.bodies[-1]["messages"][0]["content"]
    number = next(i for i, row in enumerate(names["GOLD"]) if row["text"] == text)
    good = any(names["PROMPTS"][name] == prompt for name in BEST)
    return f"{names['GOLD'][number]['answer'].title()}." if good or number % 2 else "I cannot say"


def test_cells_run_to_the_selection_and_count_like_the_server(run_notebook, capsys):
    names, stub = run_notebook(PRICE_IN="1000", PRICE_OUT="1000", LIMIT="1000")
    shown = capsys.readouterr().out
    found = names["found"]
    assert [names["NAMES"][prompt] for prompt in found.workers] == list(BEST)
    assert found.complete
    assert f"Selected: {', '.join(BEST)}\nWith probability at least 95%, the 3 selected" in shown
    assert "on this set of 60 questions" in shown
    assert stub.calls == found.answers.sum() < 720 / 2
    assert f"Calls: {stub.calls} of 720" in shown
    cost = (PROMPT_TOKENS + REPLY_TOKENS) * 1000 / 1e6
    assert f"Spent: ${stub.calls * cost:.4f}; asking everything: about ${720 * cost:.4f}" in shown
    assert {body["max_tokens"] for body in stub.bodies} == {names["MAX_TOKENS"]}
    assert stub.keys == {"Bearer key"}


def test_notebook_stops_at_the_limit_with_its_guarantee(run_notebook, capsys):
    names, stub = run_notebook(PRICE_IN="1000", PRICE_OUT="1000", LIMIT="15")
    shown = capsys.readouterr().out
    assert stub.calls <= names["budget"] < 100
    assert names["spent"]() <= 15
    assert not names["found"].complete
    assert "The limit ended it early" in shown


def test_a_reply_is_paid_once_if_the_selection_runs_again(run_notebook):
    names, stub = run_notebook()
    calls, selected = stub.calls, names["found"].workers.tolist()
    cell = next(cell for cell in CELLS if "topk.select(" in cell)
    exec(compile(cell, str(NOTEBOOK), "exec"), names)  # the server is gone by now
    assert (stub.calls, names["found"].workers.tolist()) == (calls, selected)


def test_notebook_has_sixty_gold_messages_and_no_stored_output(run_notebook):
    names, _ = run_notebook(LIMIT="0.05")
    assert len({row["text"] for row in names["GOLD"]}) == len(names["GOLD"]) == 60
    assert len(names["PROMPTS"]) == 12
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells)

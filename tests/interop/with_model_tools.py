"""Tools for choosing models: their real files here, and topk in them.

Run by ``make interop`` alone.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

TOOLS = Path("var/interop-tools").absolute()
HELM = Path("var/interop-helm/bin/helm-run").absolute()
PROMPTFOO = [str(TOOLS / "node_modules/.bin" / name) for name in ("node", "promptfoo")]
QUIZ = """
task: quiz
dataset_path: json
dataset_kwargs: {data_files: {test: FILE}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
doc_to_choice: ["yes", "no"]
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
"""
PROVIDER = """
module.exports = class {
  constructor(options) { this.options = options; }
  id() { return this.options.id || 'drawn'; }
  async callApi(prompt) {
    return {output: Number(prompt.match(/\\d+/)[0]) % 10 < this.options.config.right ? 'x' : 'no'};
  }
};
"""

CLIENT = """
import re
from helm.clients.simple_client import SimpleClient

class ParityClient(SimpleClient):
    def __init__(self, cache_config, right):
        super().__init__(cache_config=cache_config)
        self.right = right

    def invoke_model(self, raw_request):
        number = int(re.findall(r"Is (\\d+) even", raw_request["prompt"])[-1])
        odd = number % 2 == (1 if number % 10 < self.right else 0)
        return {"completions": ["B" if odd else "A"]}
"""
MODEL = """  - name: simple/{name}
    display_name: {name}
    description: It tells odd numbers from even ones.
    access: open
    release_date: 2026-01-01
    creator_organization_name: Simple
    tags: [TEXT_MODEL_TAG]
"""
DEPLOYMENT = """  - name: simple/{name}
    model_name: simple/{name}
    tokenizer_name: simple/tokenizer1
    max_sequence_length: 2048
    client_spec: {{class_name: parity_client.ParityClient, args: {{right: {right}}}}}
"""


def run_tool(*words: Any, cwd: Path) -> None:
    offline = {"HF_HUB_OFFLINE": "1", "PROMPTFOO_DISABLE_TELEMETRY": "1", "PYTHONPATH": "."}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=os.environ | offline | {"PROMPTFOO_DISABLE_UPDATE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 100), done.stdout[-3000:] + done.stderr[-3000:]


def replay(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    call_command("replay", answers=path, k=1, epsilon=0.2, algorithm=["certified"], json=True)
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.django_db
def test_folder_of_lm_eval_is_replayed(tmp_path, capsys):
    rows = [json.dumps({"question": f"Is {i} odd?", "answer": i % 2}) for i in range(60)]
    (tmp_path / "quiz.jsonl").write_text("\n".join(rows))
    (tmp_path / "quiz.yaml").write_text(QUIZ.replace("FILE", str(tmp_path / "quiz.jsonl")))
    for seed in (1, 2, 3):
        log = ("--log_samples", "--output_path", f"out/model{seed}", "--seed", seed)
        lm_eval = (TOOLS / "bin/lm_eval", "--model", "dummy", "--tasks", "quiz")
        run_tool(*lm_eval, "--include_path", ".", *log, cwd=tmp_path)
    document = replay(tmp_path / "out", capsys)
    assert (document["facts"]["workers"], document["facts"]["questions"]) == (3, 60)


@pytest.mark.django_db
def test_results_of_promptfoo_are_replayed(tmp_path, capsys):
    (tmp_path / "provider.js").write_text(PROVIDER)
    providers = [
        {"id": "file://provider.js", "label": label, "config": {"right": right}}
        for label, right in (("good", 10), ("fair", 6), ("poor", 3))
    ]
    test = {"assert": [{"type": "equals", "value": "x"}]}
    tests = [test | {"vars": {"n": n}} for n in range(60)]
    config = {"prompts": ["Is it {{n}}?"], "providers": providers, "tests": tests}
    (tmp_path / "config.json").write_text(json.dumps(config))
    run_tool(*PROMPTFOO, "eval", "-c", "config.json", "-o", "out.json", cwd=tmp_path)
    document = replay(tmp_path / "out.json", capsys)
    assert (document["facts"]["workers"], document["facts"]["questions"]) == (3, 60)
    assert "good" in json.dumps(document)


@pytest.mark.django_db
def test_folder_of_helm_is_replayed(tmp_path, capsys):
    models = {"good": 10, "fair": 6, "poor": 3}
    (tmp_path / "parity_client.py").write_text(CLIENT)
    for kind, text in (("metadata", MODEL), ("deployments", DEPLOYMENT)):
        rows = "".join(text.format(name=name, right=right) for name, right in models.items())
        head = "models:" if kind == "metadata" else "model_deployments:"
        (tmp_path / f"model_{kind}.yaml").write_text(f"{head}\n{rows}")
    entries = [f"simple_mcqa:model=simple/{name}" for name in models]
    limits = ("--suite", "v1", "--max-eval-instances", 60)
    run_tool(
        HELM, "--local-path", ".", *limits, "-o", "out", "--run-entries", *entries, cwd=tmp_path
    )
    document = replay(tmp_path / "out", capsys)
    assert (document["facts"]["workers"], document["facts"]["questions"]) == (3, 60)
    assert "simple_good" in json.dumps(document)


def test_topk_selects_inside_the_tools():
    """The tests of packages/topk/topk/adapters, where their tools are installed."""
    done = subprocess.run(
        [TOOLS / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/adapters"],
        cwd="packages/topk",
        env=os.environ | {"PROMPTFOO": " ".join(PROMPTFOO)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "skipped" not in done.stdout

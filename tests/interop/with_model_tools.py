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


def run_tool(*words: Any, cwd: Path) -> None:
    offline = {"HF_HUB_OFFLINE": "1", "PROMPTFOO_DISABLE_TELEMETRY": "1"}
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

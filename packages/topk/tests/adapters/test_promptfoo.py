"""Run by ``make interop`` with the real promptfoo."""

import json
import os
import shlex

import pytest

from topk import ProblemError

PROMPTFOO = shlex.split(os.environ.get("PROMPTFOO", ""))
pytestmark = pytest.mark.skipif(not PROMPTFOO, reason="PROMPTFOO names no command")
pytest.importorskip("yaml")
select_providers = pytest.importorskip("topk.adapters.promptfoo").select_providers

# Draws if an answer is right, and writes the request down.
PROVIDER = """
const fs = require('fs');
module.exports = class {
  constructor(options) { this.options = options; }
  id() { return this.options.id || 'drawn'; }
  async callApi(prompt) {
    const {right, salt} = this.options.config;
    fs.appendFileSync(__dirname + '/asked.txt', salt + ' ' + prompt + '\\n');
    if (right < 0) return {error: 'no server'};
    const number = Number(prompt.match(/\\d+/)[0]);
    return {output: (number * 7919 * salt) % 101 < right ? String(number + 1) : 'no'};
  }
};
"""
RIGHT = {"good": 97, "fair": 60, "poor": 30}


@pytest.fixture
def config(tmp_path):
    def write(rights, prompts=("What is {{n}} + 1?",)):
        (tmp_path / "provider.js").write_text(PROVIDER)
        providers = [
            {"id": "file://provider.js", "label": name, "config": {"right": right, "salt": salt}}
            for salt, (name, right) in enumerate(rights.items(), 3)
        ]
        tests = [
            {"vars": {"n": n}, "assert": [{"type": "equals", "value": str(n + 1)}]}
            for n in range(1, 121)
        ]
        file = tmp_path / "promptfooconfig.json"
        file.write_text(
            json.dumps({"prompts": list(prompts), "providers": providers, "tests": tests})
        )
        return file

    return write


def test_best_provider_is_found_with_a_part_of_the_tests(config):
    file = config(RIGHT)
    best = select_providers(file, command=PROMPTFOO, k=1, epsilon=0.1, batch=60)
    asked = (file.parent / "asked.txt").read_text().splitlines()
    assert best.names == ["good"]
    assert best.complete
    assert best.calls == len(asked) == len(set(asked)) < 200  # of 360
    assert sorted(path.name for path in file.parent.iterdir()) == [
        "asked.txt",
        "promptfooconfig.json",
        "provider.js",
    ]


def test_provider_without_a_server_is_set_aside(config):
    best = select_providers(config(RIGHT | {"dead": -1}), command=PROMPTFOO, k=1, epsilon=0.2)
    assert best.names == ["good"]
    assert "no server" in best.set_aside["dead"]


def test_several_prompts_are_refused(config):
    with pytest.raises(ProblemError, match="one prompt"):
        select_providers(config(RIGHT, ("a {{n}}", "b {{n}}")), k=1)

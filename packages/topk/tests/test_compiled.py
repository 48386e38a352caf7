"""The compiled code on disk is never older than the files it was made from."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import topk

# ``count`` is in radii.py; the entropy it brings up to date is computed in divergence.py.
KERNELS = """
from topk.published.kernels import DIVERGENCE, Strategy, build_board, count
from topk.published.kernels.layout import EXTRA
import numpy as np

strategy = Strategy(0, DIVERGENCE, 1, 1, 0.0, True, *[0.0] * 2, 1, *[0.0] * 2, 0, *[0.0] * 5)
arms, memo = build_board(np.ones(2, np.int64), np.full(2, 0.5), np.full(2, 0.5), 1)
count(strategy, arms, memo, 0, 1)
print(arms[EXTRA, 0], sum(count.stats.cache_hits.values()))
"""
# ``logs_of`` is in bounds.py; the logarithm is computed in likelihood.py.
BOUNDS = """
from topk.universal.bounds import logs_of

print(logs_of(0.5, 0.6)[0], sum(logs_of.stats.cache_hits.values()))
"""


def run(script, folder):
    environment = os.environ | {"PYTHONPATH": str(folder)}
    environment.pop("NUMBA_CACHE_DIR", None)
    finished = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, check=True, capture_output=True
    )
    value, hits = finished.stdout.split()
    return float(value), int(hits)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "room", "file", "line", "changed"),
    [
        (KERNELS, "published/kernels", "divergence.py", "entropy = 0.0\n", "entropy = 7.0\n"),
        (BOUNDS, "universal", "likelihood.py", "return math.log(x)", "return 7.0 + math.log(x)"),
    ],
)
def test_a_change_in_one_file_compiles_the_functions_of_the_others_anew(
    tmp_path, script, room, file, line, changed
):
    ignored = shutil.ignore_patterns("__pycache__", "*.md")
    shutil.copytree(Path(topk.__file__).parent, tmp_path / "topk", ignore=ignored)
    first, hits = run(script, tmp_path)
    assert hits == 0
    assert run(script, tmp_path) == (first, 1)

    path = tmp_path / "topk" / room / file
    source = path.read_text(encoding="utf-8")
    assert source.count(line) == 1
    path.write_text(source.replace(line, changed))
    assert run(script, tmp_path) == (first + 7, 0)
    path.write_text(source.replace(line, changed) + "\n\ndef unrelated():\n    return 1\n")
    assert run(script, tmp_path) == (first + 7, 1), "another function changes nothing"
    path.write_text(source.replace(line, changed) + "\n\nUNRELATED = 1\n")
    assert run(script, tmp_path) == (first + 7, 0), "a constant may be in any function"

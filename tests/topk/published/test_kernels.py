"""The compiled code on disk is never older than the files it was made from."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import topk

# ``count`` is in radii.py; the entropy it brings up to date is computed in divergence.py.
SCRIPT = """
from topk.published.kernels import DIVERGENCE, Strategy, build_board, count
from topk.published.kernels.layout import EXTRA
import numpy as np

strategy = Strategy(0, DIVERGENCE, 1, 1, 0.0, True, *[0.0] * 2, 1, *[0.0] * 2, 0, *[0.0] * 5)
arms, memo = build_board(np.ones(2, np.int64), np.full(2, 0.5), np.full(2, 0.5), 1)
count(strategy, arms, memo, 0, 1)
print(arms[EXTRA, 0], sum(count.stats.cache_hits.values()))
"""


def run(folder):
    environment = os.environ | {"PYTHONPATH": str(folder)}
    environment.pop("NUMBA_CACHE_DIR", None)
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=folder, env=environment, check=True, capture_output=True
    )
    entropy, hits = finished.stdout.split()
    return float(entropy), int(hits)


@pytest.mark.slow
def test_a_change_in_one_file_compiles_the_functions_of_the_others_anew(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__", "*.md")
    shutil.copytree(Path(topk.__file__).parent, tmp_path / "topk", ignore=ignored)
    kernels = tmp_path / "topk" / "published" / "kernels"
    first, hits = run(tmp_path)
    assert hits == 0
    assert run(tmp_path) == (first, 1)

    changed = kernels / "divergence.py"
    source = changed.read_text(encoding="utf-8")
    assert source.count("    entropy = 0.0\n") == 1
    changed.write_text(source.replace("    entropy = 0.0\n", "    entropy = 7.0\n"))
    assert run(tmp_path) == (first + 7, 0)
    assert len(list((kernels / "__pycache__").glob("kernels-*"))) == 1, "old folders are removed"

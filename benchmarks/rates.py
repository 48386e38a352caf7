"""Answers per processor second of simulated runs, beside an earlier commit.

BESIDE=COMMIT python -m benchmarks rates

A process measures one round of one commit, and the commits take turns: the best round counts,
because whatever else the machine does makes all others slower. Beside it are the mean answers of a
run, which a faster look may not raise.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .start import ROOT, clean_environment, make_clone
from .tables import show

ROUNDS = 3
HERE = "here"
SCRIPT = Path(__file__).with_name("simulated_runs.py")
# By algorithm and workers: answers a second, answers a run.
Figures = dict[str, tuple[float, float]]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="crowdselect-rates-") as folder:
        names = os.environ.get("BESIDE", "").split()
        places = {name: make_clone(Path(folder) / name, name) for name in names} | {HERE: ROOT}
        rounds: dict[str, list[Figures]] = {name: [] for name in places}
        for _ in range(ROUNDS):
            for name, place in places.items():
                rounds[name].append(measure_commit(place))
    rows = [
        [case, commit, *max(figures[case] for figures in some)]
        for case in rounds[HERE][0]
        for commit, some in rounds.items()
    ]
    columns = ["algorithm, workers", "commit", "answers a CPU second", "answers a run"]
    show(f"Simulated runs, the best of {ROUNDS} rounds", columns, rows)


def measure_commit(place: Path) -> Figures:
    """Simulate runs with the algorithms of a checkout, on one core."""
    paths = os.pathsep.join(str(path) for path in (place, place / "packages" / "topk"))
    environment = clean_environment(PYTHONPATH=paths, OMP_NUM_THREADS="1")
    command = [sys.executable, str(SCRIPT)]
    done = subprocess.run(
        command, cwd=place, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return {case: (speed, answers) for case, (speed, answers) in json.loads(done.stdout).items()}

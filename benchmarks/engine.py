"""Time of ``engine.advance`` in milliseconds, beside an earlier commit.

BESIDE=COMMIT SIZES="10000 100000" ALGORITHMS=lucb python -m benchmarks engine

By the wall clock, of its own process and of the database's processors; the wall clock's split into
load, bandit and save. Between steps every open assignment is answered in bulk, which is not timed.
The commit is measured in a clone, with a database of its own and these benchmarks; the second table
is what a step takes now by what it took then.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from django.db import connection
from django.db.models.functions import Mod

from selection import engine
from selection.engine import step
from selection.models import Run
from tests.worlds import make_pool, make_questions, make_run

from .crowds import WORKER, answer_out
from .spent import busy, database, processors
from .start import make_clone
from .tables import show

# One of each kind; the core's share of a step is measured for all of them by benchmarks.bandit.
ALGORITHMS = os.environ.get("ALGORITHMS", "adaptive-top-k lucb ugape-c certified credible").split()
SIZES = [int(size) for size in os.environ.get("SIZES", "1000 10000 100000").split()]
STEPS = 25
ANSWERS = 10  # of each worker before
SLOTS = 200
COLUMNS = "algorithm candidates median p95 most own database load bandit save"
PARTS = {"load_arrays": "load", "tell": "bandit", "ask_workers": "bandit", "save_step": "save"}


def main() -> None:
    before = {commit: measure_commit(commit) for commit in os.environ.get("BESIDE", "").split()}
    rows = measure_all()
    columns, title = COLUMNS.split(), f"on {connection.vendor}, {SLOTS} answers a step"
    show(f"engine.advance {title}, milliseconds; {busy()}", columns, rows)
    for commit, others in before.items():
        pairs = zip(rows, others, strict=True)
        ratios = [[*row[:2], *divide(row[2:], other[2:])] for row, other in pairs]
        show(f"{title}: now by {commit}", columns, ratios)
    if os.environ.get("ROWS"):
        Path(os.environ["ROWS"]).write_text(json.dumps(rows))


def divide(values: list[float], others: list[float]) -> list[object]:
    pairs = zip(values, others, strict=True)
    return [f"{value / other:.2f}" if other else "" for value, other in pairs]


def measure_all() -> list[list[Any]]:
    rows, questions = [], make_questions(500)
    with Timed() as spent:
        for n in SIZES:
            shared = {"pool": make_pool(n), "question_set": questions}
            rows += [[name, n, *measure(name, n, spent, shared)] for name in ALGORITHMS]
    return rows


def measure_commit(commit: str) -> list[list[Any]]:
    with tempfile.TemporaryDirectory(prefix="crowdselect-beside-") as folder:
        clone, rows = make_clone(Path(folder) / "clone", commit), Path(folder) / "rows"
        shutil.copytree(Path(__file__).parent, clone / "benchmarks", dirs_exist_ok=True)
        url = f"sqlite:///{folder}/beside.sqlite3"
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(f"CREATE DATABASE beside_{commit}")
            url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/beside_{commit}").geturl()
        environment = os.environ | {"DATABASE_URL": url, "ROWS": str(rows), "BESIDE": ""}
        command = [sys.executable, "-m", "benchmarks", "engine"]
        subprocess.run(command, cwd=clone, env=environment, check=True)
        measured: list[list[Any]] = json.loads(rows.read_text())
    return measured


def measure(name: str, n: int, spent: dict[str, float], shared: dict[str, object]) -> list[float]:
    settings = {"k": n // 5, "algorithm": name, "epsilon": 0.02, "slots_per_worker": 5}
    run = make_run(slots=n, **shared, **settings)
    warm_up(run)
    parts = defaultdict(list)
    for _ in range(STEPS):
        spent.clear()
        server, process_time, start = (
            processors(database()),
            time.process_time(),
            time.perf_counter(),
        )
        engine.advance(run.pk)
        parts["total"].append(time.perf_counter() - start)
        parts["own"].append(time.process_time() - process_time)
        parts["database"].append(processors(database()) - server)
        for part in ("load", "bandit", "save"):
            parts[part].append(spent[part])
        answer_out(run)
    total, database_ms = parts["total"], np.mean(parts["database"])  # measured in hundredths
    medians = [float(np.median(parts[part])) for part in ("load", "bandit", "save")]
    spans = [np.median(total), np.quantile(total, 0.95), max(total)]
    figures = (*spans, np.median(parts["own"]), database_ms, *medians)
    return [1000 * float(value) for value in figures]


def warm_up(run: Run) -> None:
    """Let every worker have given answers, so that the algorithm has something to compare.

    In rounds they are given anew. The first steps load what is compiled and write what is kept.
    """
    if run.selector_class.open_roster:
        right = ANSWERS - Mod("worker_id", WORKER) % ANSWERS
        run.candidates.update(asked=ANSWERS, pulls=ANSWERS, rewards=right)
    Run.objects.filter(pk=run.pk).update(slots=SLOTS)
    for _ in range(3):
        engine.advance(run.pk)
        answer_out(run)


class Timed:
    """Context manager that adds up the seconds of the engine's parts in a dictionary."""

    def __enter__(self) -> dict[str, float]:
        self.spent: dict[str, float] = defaultdict(float)
        self.originals = {name: getattr(step, name) for name in PARTS}
        for name, original in self.originals.items():
            setattr(step, name, self._watch(original, PARTS[name]))
        return self.spent

    def _watch(self, work: Callable[..., Any], part: str) -> Callable[..., Any]:
        def watched(*arguments: Any) -> Any:
            start = time.perf_counter()
            try:
                return work(*arguments)
            finally:
                self.spent[part] += time.perf_counter() - start

        return watched

    def __exit__(self, *error: object) -> None:
        for name, original in self.originals.items():
            setattr(step, name, original)

"""Time of ``engine.advance`` in milliseconds.

By the wall clock, of its own process and of the database's processors; the wall clock's split into
load, bandit and save. Between steps every open assignment is answered in bulk, which is not timed.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from django.db import connection

from selection import engine
from selection.engine import step
from selection.models import Run
from tests.worlds import make_pool, make_questions, make_run

from .crowds import answer_out
from .spent import busy, database, processors
from .tables import show

# One of each kind; the core's share of a step is measured for all of them by benchmarks.bandit.
ALGORITHMS = ("adaptive-top-k", "lucb", "ugape-c", "certified", "credible")
SIZES = (1_000, 10_000, 100_000)
STEPS = 25
SLOTS = 200
COLUMNS = "algorithm candidates median p95 most own database load bandit save"
PARTS = {"load_arrays": "load", "tell": "bandit", "ask_workers": "bandit", "save_step": "save"}


def main() -> None:
    rows, questions = [], make_questions(500)
    with Timed() as spent:
        for n in SIZES:
            shared = {"pool": make_pool(n), "question_set": questions}
            rows += [[name, n, *measure(name, n, spent, shared)] for name in ALGORITHMS]
    show(
        f"engine.advance on {connection.vendor}, {SLOTS} answers a step, milliseconds; {busy()}",
        COLUMNS.split(),
        rows,
    )


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
    """Give every worker two answers, so that the algorithm has something to compare.

    The step that counts the second answers is part of it: it counts as many as there are workers.
    """
    for slots in (run.slots, run.slots, SLOTS):
        Run.objects.filter(pk=run.pk).update(slots=slots)
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

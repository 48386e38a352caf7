"""One ``engine.advance``: median and 95 % in milliseconds, split into load, bandit and save.

Between steps every open assignment is answered in bulk, which is not timed.
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
from tests.worlds import Crowd, answer_all, crowd, make_run

from .tables import show

# One of each kind; the core's share of a step is measured for all of them by benchmarks.bandit.
ALGORITHMS = ("adaptive-top-k", "lucb", "ugape-c", "certified", "credible")
SIZES = (100, 1_000, 10_000)
STEPS = 25
SLOTS = 200
PARTS = {"load": "load", "tell": "bandit", "ask": "bandit", "save": "save"}


def main() -> None:
    rows = []
    with Timed() as spent:
        for name in ALGORITHMS:
            for n in SIZES:
                rows.append([name, n, *measure(name, n, spent)])
    show(
        f"engine.advance on {connection.vendor}, {SLOTS} answers a step, milliseconds",
        ["algorithm", "candidates", "median", "p95", "load", "bandit", "save"],
        rows,
    )


def measure(name: str, n: int, spent: dict[str, float]) -> list[float]:
    run = make_run(
        n=n, k=n // 5, questions=500, algorithm=name, slots=SLOTS, slots_per_worker=5, epsilon=0.05
    )
    respond, totals, parts = crowd(1, good=n // 5), [], defaultdict(list)
    warm_up(run, respond)
    for _ in range(STEPS):
        spent.clear()
        start = time.perf_counter()
        engine.advance(run.pk)
        totals.append(time.perf_counter() - start)
        for part in ("load", "bandit", "save"):
            parts[part].append(spent[part])
        answer_all(run, respond)
    medians = [float(np.median(parts[part])) for part in ("load", "bandit", "save")]
    return [1000 * value for value in (np.median(totals), np.quantile(totals, 0.95), *medians)]


def warm_up(run: Run, respond: Crowd) -> None:
    """Give every worker an answer, so that the algorithm has something to compare."""
    Run.objects.filter(pk=run.pk).update(slots=run.candidates.count())
    engine.advance(run.pk)
    answer_all(run, respond)
    engine.advance(run.pk)
    answer_all(run, respond)
    Run.objects.filter(pk=run.pk).update(slots=SLOTS)


class Timed:
    """While open, the engine's parts add the seconds they take to the dictionary it gives."""

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

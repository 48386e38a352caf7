"""Simulated studies with absence, wrong gold and withdrawals: the frequency of false guarantees."""

import time

from research.validation import event_simulation
from research.validation.event_table import ALGORITHMS, study_pools

from .tables import show

RUNS = 2


def main() -> None:
    rows = [measure(name, happens) for name in ALGORITHMS for happens in event_simulation.LIVES]
    columns = ["algorithm", "what happens", "runs", "false", "answers", "seconds a run"]
    show("Studies that real life happens to", columns, rows)


def measure(algorithm: str, happens: str) -> list[object]:
    start, runs = time.perf_counter(), []
    for pool in study_pools():
        for seed in range(RUNS):
            settings = {"k": pool.k, "epsilon": pool.epsilon, "delta": pool.delta}
            runs.append(
                event_simulation.play_study(
                    algorithm, pool.means(seed), happens, 4000, seed, **settings
                )
            )
    false, answers = sum(run.false for run in runs), sum(run.answers for run in runs)
    seconds = (time.perf_counter() - start) / len(runs)
    return [algorithm, happens, len(runs), false, answers / len(runs), seconds]

"""Print the speed of simulated runs with the `topk` that is found first: benchmarks/rates.py.

Workers of Beta(6, 2), K = n / 5, epsilon = delta = .05.
"""

import json
import time

import numpy as np

from topk.simulate import simulate_run

ALGORITHMS = ("certified", "universal", "credible")
RUNS = {10: 12, 100: 4, 1_000: 1}


def measure(name: str, n: int) -> tuple[float, float]:
    """Return answers per processor second, and answers of a run; one run loads what is compiled."""
    play(name, n, 0)
    began = time.process_time()
    answers = sum(play(name, n, seed) for seed in range(1, RUNS[n] + 1))
    return answers / (time.process_time() - began), answers / RUNS[n]


def play(name: str, n: int, seed: int) -> int:
    means = np.random.default_rng([seed, n]).beta(6, 2, n)
    return simulate_run(name, means, k=n // 5, epsilon=0.05, delta=0.05, seed=seed).pulls


if __name__ == "__main__":
    print(json.dumps({f"{name}, {n:,}": measure(name, n) for name in ALGORITHMS for n in RUNS}))

"""Speed of the selection core: python -m benchmarks bandit.

Times are of this process alone, by the wall clock unless stated otherwise; run it on a quiet
machine.
"""

import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from topk import SELECTORS, Problem
from topk.instances import two_group, uniform
from topk.simulate import simulate_run

SEQUENTIAL = ("lucb", "kl-lucb", "ugape-c", "lil-rand-lucb")
SIZES = (100, 1_000, 10_000, 100_000)
SLOTS = 1_000


def simulate() -> None:
    """Print pulls per second of one run, sampled as in the paper, with Bernoulli rewards."""
    print("| algorithm | n | K | pulls | pulls per second |\n|---|--:|--:|--:|--:|")
    for name in SEQUENTIAL:
        simulate_run(name, [0.6, 0.5], k=1, max_pulls=50)  # compile
        for n, k in ((100, 20), (1000, 20), (1000, 250)):
            start = time.perf_counter()
            pulls = simulate_run(name, uniform(n), k=k, max_pulls=1_000_000).pulls
            print(f"| {name} | {n:,} | {k} | {pulls:,} | {pulls / since(start):,.0f} |")


def step() -> None:
    """Print the time of a live step: rebuild, tell 1,000 answers, judge, ask for 1,000."""
    print("Seconds (and MB) of one live step of 1,000 slots.\n")
    print("| algorithm | " + " | ".join(f"n = {n:,}" for n in SIZES) + " |")
    print("|---|" + "--:|" * len(SIZES))
    for name in SELECTORS:
        one_step(name, 20)  # compile
        cells = [
            f"{seconds:.3f} ({peak:.0f})" for seconds, peak in (one_step(name, n) for n in SIZES)
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def one_step(name: str, n: int) -> tuple[float, float]:
    """Return the seconds and the peak of megabytes, which are measured in separate steps."""
    timed = prepared(name, n)
    start = time.perf_counter()
    timed()
    seconds = since(start)
    watched = prepared(name, n)
    tracemalloc.start()
    watched()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return seconds, peak


def prepared(name: str, n: int) -> Callable[[], None]:
    """Return a step of the engine for a run in its middle."""
    k = 1 if name == "lil-ucb" else n // 5
    budget = 60 * n if "budget" in SELECTORS[name].needs else None
    problem, rng = Problem(n, k, 0.05, 0.05, budget), np.random.default_rng(0)
    truth = rng.beta(6, 2, n)
    selector = SELECTORS[name](problem)
    while selector.state.pulls.sum() < 10 * n and not selector.stop():
        counts = selector.ask(10 * n, rng=rng)
        arms = np.flatnonzero(counts)
        selector.tell(arms, rng.binomial(counts[arms], truth[arms]), counts[arms])
    counts = selector.ask(SLOTS, rng=rng)
    arms = np.repeat(np.arange(n), counts)
    rewards = (rng.random(arms.size) < truth[arms]).astype(float)

    def run() -> None:
        resumed = SELECTORS[name](problem, selector.state)
        resumed.tell(arms, rewards)
        resumed.stop()
        resumed.standing()
        resumed.selection()
        resumed.ask(SLOTS, pending=np.zeros(n, int), room=np.full(n, 500), rng=rng)

    return run


def rounds() -> None:
    """Print the time of whole runs of AdaptiveTopK."""
    print("| instance | n | K | pulls | milliseconds |\n|---|--:|--:|--:|--:|")
    for n, k in ((100, 20), (1000, 100), (1000, 500)):
        for title, means in (("TwoGroup", two_group(n, k)), ("Uniform", uniform(n))):
            start = time.perf_counter()
            pulls = simulate_run("adaptive-top-k", means, k=k, epsilon=0.01, delta=0.01).pulls
            print(f"| {title} | {n:,} | {k} | {pulls:,} | {1000 * since(start):.0f} |")


def since(start: float) -> float:
    return time.perf_counter() - start


def main() -> None:
    for part in (simulate, step, rounds):
        part()
        print()

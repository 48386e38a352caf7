"""Test if the time of a reply reveals a right answer: 1,000 answers sent both ways, and ranked.

The same answer goes to the same question from the same state, once as the right one and once as a
wrong one, in random order. 0.50 reveals no difference; the interval shows the precision of 1,000
pairs.
"""

import gc
import time
from collections.abc import Callable

import numpy as np
from django.db import connection, transaction
from django.test import Client, override_settings
from scipy.stats import binomtest, mannwhitneyu

from selection.models import Assignment, Run
from tests.right_and_wrong import (
    Send,
    as_if,
    by_api,
    make_program,
    make_world,
    of_each_kind,
    on_page,
)

from .page import redis
from .tables import show

PAIRS, SEED = 1_000, 20
Way = Callable[[Assignment], Send]


def main() -> None:
    with redis(), override_settings(API_REQUESTS_PER_MINUTE=0, ALLOWED_HOSTS=["*"]):
        run = make_world()
        program: Client = make_program(run)
        ways: dict[str, Way] = {
            "worker's page": on_page,
            "API": lambda slip: by_api(program, run, slip),
        }
        show(
            f"chance that a right answer's reply comes later than a wrong one's, {PAIRS} each, "
            f"on {connection.vendor}",
            ["way", "ms", "any two", "95 %", "p", "of a pair", "95 %"],
            [[name, *told(run, way)] for name, way in ways.items()],
        )


def told(run: Run, way: Way) -> list[str]:
    rng, slips = np.random.default_rng(SEED), of_each_kind(run)
    gc.collect()
    gc.freeze()  # existing objects need not be scanned each time
    right, wrong = (np.empty(PAIRS), np.empty(PAIRS))
    for number in range(-20, PAIRS):  # the first are not counted: they fill the caches
        slip = rng.choice(slips[number % len(slips)])
        for is_right in rng.permutation([True, False]):
            (right if is_right else wrong)[number] = taken(slip, way, is_right, number % 97)
    return ranked(right, wrong)


def taken(slip: Assignment, way: Way, is_right: bool, seed: int) -> float:
    """Return the seconds until the reply and the next page; the transaction is rolled back."""
    with transaction.atomic():
        answer, send = as_if(is_right, slip, np.random.default_rng(seed)), way(slip)
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        send(answer)
        seconds = time.perf_counter() - start
        gc.enable()
        transaction.set_rollback(True)
    return seconds


def ranked(right: np.ndarray, wrong: np.ndarray) -> list[str]:
    """Return the row of statistics: all pairs of replies, then pair by pair.

    All right against all wrong answers by Mann and Whitney, with the standard error of no
    difference; pair by pair by the exact binomial test.
    """
    test, n = mannwhitneyu(right, wrong), len(right)
    area, error = test.statistic / n**2, np.sqrt((2 * n + 1) / (12 * n**2))
    pairs = binomtest(int((right > wrong).sum()), n)
    exact = pairs.proportion_ci()
    return [
        f"{1000 * np.median(np.concatenate([right, wrong])):.1f}",
        f"{area:.3f}",
        f"{area - 1.96 * error:.3f} to {area + 1.96 * error:.3f}",
        f"{test.pvalue:.2f}",
        f"{pairs.statistic:.3f}",
        f"{exact.low:.3f} to {exact.high:.3f}",
    ]

"""``make load``: the API beside the bare insert in the same minute, several times over.

The machine may have other things to do, so the ratio is what counts: of each round, with the median
and the spread of all. Then 100 runs at once: how long an answer waits for the step that counts it,
while clients send as fast as they are answered. Two minutes.
"""

import time

import numpy as np
from django.db import connection

from selection import engine
from selection.models import Answer, Run, Step
from tests.worlds import make_run

from .spent import busy
from .stack import (
    BATCH,
    CLIENTS,
    Post,
    Stack,
    addresses,
    crowded_run,
    open_ids,
    post_all,
    post_batches,
    post_each,
    put_aside,
    stack,
)
from .tables import show

ROUNDS = 5
SECONDS = 3.0
RUNS = 100
LAGS = 15.0  # seconds of answers to all these runs


def main() -> None:
    with stack(children=2) as running:
        rounds = np.array([one_round(running) for _ in range(ROUNDS)])  # (rounds, ways, 2)
        names = ("bare insert", "API, one by one", f"API, by {BATCH}")
        rows = [
            [name, *spread(rates), *spread(rates / rounds[:, 0, 0]), *spread(1000 * seconds)]
            for name, (rates, seconds) in zip(names, rounds.transpose(1, 2, 0), strict=True)
        ]
        columns = ["", "answers a second", "least", "most", "of the bare insert", "least", "most"]
        columns += ["processor ms an answer", "least", "most"]
        show(f"{CLIENTS} clients on {connection.vendor}, {ROUNDS} rounds; {busy()}", columns, rows)
        lags, cost = of_many_runs(running)
        cells = [f"{value:.2f}" for value in (*np.quantile(lags, [0.5, 0.95]), lags.max())]
        show(
            f"seconds from an answer to the step that counts it, {RUNS} runs at once; {busy()}",
            ["answers", "a second", "median", "p95", "most", "processor ms an answer"],
            [[lags.size, lags.size / LAGS, *cells, 1000 * cost]],
        )


def spread(values: np.ndarray) -> list[str]:
    return [f"{value:,.2f}" for value in (np.median(values), values.min(), values.max())]


def one_round(to: Stack) -> list[tuple[float, float]]:
    """Answers a second, and seconds of processors for each: bare, by the API one by one, and in
    batches; each of a run of its own."""
    bare, single, batched = crowded_run(), crowded_run(), crowded_run()
    return [
        costs(to, bare, [f"/bare/{bare.pk}/{pk}" for pk in open_ids(bare)], post_each),
        costs(to, single, addresses(open_ids(single)), post_each),
        costs(to, batched, open_ids(batched), post_batches),
    ]


def costs(to: Stack, run: Run, what: list, post: Post) -> tuple[float, float]:
    before = to.processors()
    count, seconds = post_all(to, what, post, SECONDS)
    spent = to.processors() - before
    put_aside(run)
    return count / seconds, spent / count


def of_many_runs(to: Stack) -> tuple[np.ndarray, float]:
    """Seconds of each answer, while the clients answer what all these runs have out; and seconds
    of processors for each."""
    runs = [make_run(n=20, k=4, slots=20, slots_per_worker=1, epsilon=0.05) for _ in range(RUNS)]
    for run in runs:
        engine.advance(run.pk)
    before, end = to.processors(), time.perf_counter() + LAGS
    while (left := end - time.perf_counter()) > 0:
        post_all(to, addresses(open_ids(*runs)), post_each, left)
    time.sleep(5)
    spent = to.processors() - before
    pks = [run.pk for run in runs]
    taken = {(run, number): at for run, number, at in steps_of(pks)}
    given = Answer.objects.filter(run__in=pks).exclude(applied_in=None)
    rows = given.values_list("run_id", "applied_in", "at")
    lags = [(taken[run, step] - at).total_seconds() for run, step, at in rows]
    return np.array(lags), spent / len(lags)


def steps_of(runs: list[int]):
    return Step.objects.filter(run__in=runs).values_list("run_id", "number", "at")

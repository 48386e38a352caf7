"""``make load``: the API beside the bare insert in the same minute, several times over.

The machine may be busy otherwise, so the ratio is the figure to read: of each round, with the
median and the spread of all. Then 100 runs at once: the wait of an answer for the step that counts
it, while clients send as fast as they are answered. Two minutes.
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
        lags, cost = measure_many_runs(running)
        cells = [f"{value:.2f}" for value in (*np.quantile(lags, [0.5, 0.95]), lags.max())]
        show(
            f"seconds from an answer to the step that counts it, {RUNS} runs at once; {busy()}",
            ["answers", "a second", "median", "p95", "most", "processor ms an answer"],
            [[lags.size, lags.size / LAGS, *cells, 1000 * cost]],
        )


def spread(values: np.ndarray) -> list[str]:
    return [f"{value:,.2f}" for value in (np.median(values), values.min(), values.max())]


def one_round(server: Stack) -> list[tuple[float, float]]:
    """Return answers a second, and seconds of processors for each.

    Bare, by the API one by one, and in batches; each in a run of its own.
    """
    bare, single, batched = crowded_run(), crowded_run(), crowded_run()
    return [
        costs(server, bare, [f"/bare/{bare.pk}/{pk}" for pk in open_ids(bare)], post_each),
        costs(server, single, addresses(open_ids(single)), post_each),
        costs(server, batched, open_ids(batched), post_batches),
    ]


def costs(server: Stack, run: Run, messages: list, post: Post) -> tuple[float, float]:
    before = server.processors()
    count, seconds = post_all(server, messages, post, SECONDS)
    spent = server.processors() - before
    put_aside(run)
    return count / seconds, spent / count


def measure_many_runs(server: Stack) -> tuple[np.ndarray, float]:
    """Return each answer's seconds until its step, and processor seconds for an answer.

    Meanwhile the clients answer all outstanding assignments of these runs.
    """
    runs = [make_run(n=20, k=4, slots=20, slots_per_worker=1, epsilon=0.05) for _ in range(RUNS)]
    for run in runs:
        engine.advance(run.pk)
    before, end = server.processors(), time.perf_counter() + LAGS
    while (remaining := end - time.perf_counter()) > 0:
        post_all(server, addresses(open_ids(*runs)), post_each, remaining)
    time.sleep(5)
    spent = server.processors() - before
    pks = [run.pk for run in runs]
    step_times = {(run, number): answered for run, number, answered in steps_of(pks)}
    answers = Answer.objects.filter(run__in=pks).exclude(applied_in=None)
    rows = answers.values_list("run_id", "applied_in", "at")
    lags = [(step_times[run, step] - answered).total_seconds() for run, step, answered in rows]
    return np.array(lags), spent / len(lags)


def steps_of(runs: list[int]):
    return Step.objects.filter(run__in=runs).values_list("run_id", "number", "at")

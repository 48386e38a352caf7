"""``make load``: the API beside the bare insert in the same minute, several times over.

The machine may have other things to do, so the ratio is what counts: of each round, with the median
and the spread of all. Then 100 runs at once: how long an answer waits for the step that counts it.
"""

import http.client
import json
import multiprocessing
import time

import numpy as np
from django.db import connection

from selection import engine
from selection.models import Answer, ApiToken, Run, Step
from tests.worlds import make_run

from .api import CLIENTS, crowded_run, open_ids, post_all, stack
from .tables import show

ROUNDS = 5
SECONDS = 3.0
BATCH = 1000
RUNS = 100
LAGS = 15.0  # seconds of answers to all these runs


def main() -> None:
    connection.close()
    with stack(children=2) as port:
        token = ApiToken.issue("load")
        rounds = np.array([one_round(port, token) for _ in range(ROUNDS)])
        bare, single, batched = rounds.T
        named = {"bare insert": bare, "API, one by one": single, f"API, by {BATCH}": batched}
        rows = [[name, *spread(rates), *spread(rates / bare)] for name, rates in named.items()]
        columns = ["", "answers a second", "least", "most", "of the bare insert", "least", "most"]
        show(f"{CLIENTS} clients on {connection.vendor}, {ROUNDS} rounds", columns, rows)
        lags = of_many_runs(port, token)
        cells = [f"{value:.2f}" for value in (*np.quantile(lags, [0.5, 0.95]), lags.max())]
        show(
            f"seconds from an answer to the step that counts it, {RUNS} runs at once",
            ["answers", "median", "p95", "most"],
            [[lags.size, *cells]],
        )


def spread(values: np.ndarray) -> list[str]:
    return [f"{value:,.2f}" for value in (np.median(values), values.min(), values.max())]


def one_round(port: int, token: str) -> list[float]:
    """Answers a second: bare, by the API one by one, and in batches; each of a run of its own."""
    return [
        in_turn(port, token, lambda run, pk: f"/bare/{run.pk}/{pk}"),
        in_turn(port, token, lambda run, pk: f"/api/assignments/{pk}/answer"),
        in_batches(port, token),
    ]


def in_turn(port: int, token: str, address) -> float:
    run = crowded_run()
    paths = [address(run, pk) for pk in open_ids(run)]
    shares = [paths[i::CLIENTS] for i in range(CLIENTS)]
    counts, seconds = post_all(port, token, shares, SECONDS)
    put_aside(run)
    return sum(counts) / seconds


def in_batches(port: int, token: str) -> float:
    run = crowded_run()
    ids = open_ids(run)
    shares = [(port, token, ids[i::CLIENTS]) for i in range(CLIENTS)]
    connection.close()
    start = time.perf_counter()
    with multiprocessing.get_context("fork").Pool(CLIENTS) as pool:
        pool.starmap(post_batches, shares)
    seconds = time.perf_counter() - start
    put_aside(run)
    return len(ids) / seconds


def post_batches(port: int, token: str, ids: list[int]) -> None:
    client = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for start in range(0, len(ids), BATCH):
        part = ids[start : start + BATCH]
        sent = {"answers": [{"assignment": pk, "response": "yes"} for pk in part]}
        client.request("POST", "/api/answers", json.dumps(sent), headers)
        reply = json.loads(client.getresponse().read())
        assert reply["taken"] == len(part), reply


def put_aside(run: Run) -> None:
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.PAUSED)


def of_many_runs(port: int, token: str) -> np.ndarray:
    """Seconds of each answer, while the clients answer what all these runs have out."""
    runs = [make_run(n=20, k=4, slots=20, slots_per_worker=1, epsilon=0.05) for _ in range(RUNS)]
    for run in runs:
        engine.advance(run.pk)
    end = time.perf_counter() + LAGS
    while time.perf_counter() < end:
        ids = [pk for run in runs for pk in open_ids(run)[:2]]
        shares = [
            [f"/api/assignments/{pk}/answer" for pk in ids[i::CLIENTS]] for i in range(CLIENTS)
        ]
        post_all(port, token, shares, LAGS)
    time.sleep(5)
    pks = [run.pk for run in runs]
    taken = {(run, number): at for run, number, at in steps_of(pks)}
    given = Answer.objects.filter(run__in=pks).exclude(applied_in=None)
    rows = given.values_list("run_id", "applied_in", "at")
    return np.array([(taken[run, step] - at).total_seconds() for run, step, at in rows])


def steps_of(runs: list[int]):
    return Step.objects.filter(run__in=runs).values_list("run_id", "number", "at")

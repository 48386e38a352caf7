"""Gold answers of 10,000 watched workers: their recording beside a bare insert, and a step.

python -m benchmarks watches

Recording is measured in batches of 1,000, which take turns with bare inserts of the same rows in
the same table: by Django's bulk_create, and by the bulk statement alone. Times are of processors,
of this process and of the database together, except where the wall clock is named: the machine may
be busy otherwise.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from django.db import connection
from django.utils import timezone

from selection.db import bulk
from selection.models import GoldAnswer, Question, Watch, WatchedWorker
from selection.watches import gold, steps
from tests.selection.watches.worlds import make_watch

from .spent import busy, database, processors
from .tables import show

WORKERS, QUESTIONS, BATCH, ROUNDS = 10_000, 60, 1_000, 12
Pair = tuple[int, int]  # of a worker and a question, by their places


def main() -> None:
    watch = make_watch(WORKERS, QUESTIONS)
    steps.advance_watch(watch.pk)
    show(
        f"Gold answers recorded by {BATCH}, {WORKERS:,} workers, on {connection.vendor}; {busy()}",
        ["", "answers a processor second", "of bulk_create"],
        measure_recording(watch),
    )
    rows = [[str(rule), size, *measure_steps(watch, rule, size)] for rule in Watch.Rule
            for size in (BATCH, WORKERS)]  # fmt: skip
    columns = ["rule", "answers", "wall clock", "processors", "most"]
    show(f"Milliseconds of a step, {WORKERS:,} workers, on {connection.vendor}", columns, rows)


def measure_recording(watch: Watch) -> list[list[object]]:
    """Measure all in turns; rows are deleted between the rounds."""
    ways = {
        "bulk_create": prepare_bare,
        "statement": prepare_statement,
        "record_gold": prepare_gold,
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    rng = np.random.default_rng(1)
    for _ in range(ROUNDS):
        places = rng.choice(WORKERS * QUESTIONS, BATCH, replace=False)
        pairs = [(int(place) // QUESTIONS, int(place) % QUESTIONS) for place in places]
        for name, prepare in ways.items():
            spent[name].append(measure(prepare(watch, pairs))[1])
            GoldAnswer.objects.all().delete()
    best = {name: BATCH / float(np.median(seconds[2:])) for name, seconds in spent.items()}
    return [[name, rate, f"{rate / best['bulk_create']:.2f}"] for name, rate in best.items()]


def prepare_bare(watch: Watch, pairs: list[Pair]) -> Callable[[], object]:
    """Prepare the least work with which Django stores these answers in bulk."""
    ids = find_ids(watch, pairs)

    def insert() -> None:
        now = timezone.now()
        GoldAnswer.objects.bulk_create(
            GoldAnswer(
                watched_id=watched, question_id=question,
                asked=now, at=now, response="yes", right=True,
            )
            for watched, question in ids
        )  # fmt: skip

    return insert


def prepare_statement(watch: Watch, pairs: list[Pair]) -> Callable[[], object]:
    """Prepare the statement alone by which ``record_gold`` stores them."""
    watched, questions = zip(*find_ids(watch, pairs), strict=True)
    size, now = len(pairs), timezone.now()
    columns: dict[str, Sequence[Any]] = {"watched_id": watched, "question_id": questions}
    columns |= {"asked": [now] * size, "response": ["yes"] * size, "right": [True] * size}
    same = {"at": now, "counted": False}
    return lambda: bulk.insert_rows(GoldAnswer, columns, same, ignore_conflicts=True)


def find_ids(watch: Watch, pairs: list[Pair]) -> list[Pair]:
    workers = list(watch.workers.order_by("pk").values_list("pk", flat=True))
    questions = list(Question.objects.order_by("pk").values_list("pk", flat=True))
    return [(workers[worker], questions[question]) for worker, question in pairs]


def prepare_gold(watch: Watch, pairs: list[Pair]) -> Callable[[], object]:
    given = [gold.GivenGold(f"w{worker}", f"q{question}", "yes") for worker, question in pairs]
    return lambda: gold.record_gold(watch, given)


def measure_steps(watch: Watch, rule: str, size: int) -> list[float]:
    """Measure steps of so many new answers of different workers."""
    Watch.objects.filter(pk=watch.pk).update(rule=rule)
    columns = {"memory": b"", "evidence": 0, "answers": 0, "right": 0, "threshold": None}
    WatchedWorker.objects.update(**columns, state="fine", alarmed=None, last_asked=None)
    GoldAnswer.objects.all().delete()
    steps.advance_watch(watch.pk)
    figures = []
    for number in range(ROUNDS):
        pairs = [(worker, number) for worker in range(0, WORKERS, WORKERS // size)]
        prepare_bare(watch, pairs)()
        figures.append(measure(lambda: steps.advance_watch(watch.pk)))
    wall, spent = 1000 * np.array(figures[2:]).T
    return [float(np.median(wall)), float(np.median(spent)), float(spent.max())]


def measure(work: Callable[[], object]) -> tuple[float, float]:
    """Measure the seconds of the wall clock, and of processors."""
    server, own, start = processors(database()), time.process_time(), time.perf_counter()
    work()
    wall = time.perf_counter() - start
    return wall, time.process_time() - own + processors(database()) - server

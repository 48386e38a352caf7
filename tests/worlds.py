"""Small worlds: pools, question sets, runs, and crowds that answer."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from selection import engine
from selection.algorithms import ALGORITHMS
from selection.answers import recording
from selection.db import bulk
from selection.imports import catalog
from selection.imports.row_parsers import WorkerRow
from selection.models import (
    Assignment,
    Endpoint,
    ModelServer,
    Pool,
    Question,
    QuestionSet,
    Run,
)
from selection.runs import lifecycle

names = itertools.count(1)

Crowd = Callable[[Assignment], str | None]


def make_pool(n: int, **attributes: Sequence[str]) -> Pool:
    """Workers w0 to w<n-1>; each attribute's values are dealt in turn."""
    pool = Pool.objects.create(name=f"pool {next(names)}")
    rows = [
        WorkerRow(i, f"w{i}", f"Worker {i}", {a: v[i % len(v)] for a, v in attributes.items()})
        for i in range(n)
    ]
    catalog.take_workers(pool, rows)
    return pool


def make_models(pool: Pool) -> None:
    """Turn the workers of a pool into models of a server that nobody calls."""
    server = ModelServer.objects.create(name=f"server {pool.pk}", url="http://127.0.0.1:9/v1")
    for worker in pool.workers.all():
        Endpoint.objects.create(worker=worker, server=server, model=worker.key)


def make_questions(size: int) -> QuestionSet:
    """Insert the questions without an object for each: four times as fast."""
    question_set = QuestionSet.objects.create(name=f"questions {next(names)}")
    columns = {
        "number": range(size),
        "key": [f"q{i}" for i in range(size)],
        "prompt": [f"Say yes to {i}." for i in range(size)],
    }
    gold = {"accepted": ["yes"], "choices": [], "grading": {}, "columns": {}}
    gold |= {"retired": None, "retired_why": ""}
    bulk.insert_rows(Question, columns, {"question_set_id": question_set.pk, **gold})
    return question_set


def make_run(n: int = 6, questions: int = 200, start: bool = True, **fields: object) -> Run:
    values = {
        "k": 2,
        "algorithm": "lucb",
        "epsilon": 0.3,
        "delta": 0.1,
        "slots": 12,
        "slots_per_worker": 3,
        "seed": 7,
    } | fields
    values.setdefault("name", f"run {next(names)}")
    values.setdefault("question_set", make_questions(questions))
    if "pool" not in values:
        values["pool"] = make_pool(n)
        if ALGORITHMS[values["algorithm"]].common_order:  # it takes no people
            make_models(values["pool"])
    run = Run.objects.create(**values)
    if start:
        lifecycle.start_run(run)
        run.refresh_from_db()
    return run


def open_of(run: Run) -> list[Assignment]:
    return list(
        Assignment.objects.open()
        .filter(candidate__run=run)
        .select_related("candidate__worker", "question")
        .order_by("id")
    )


def crowd(seed: int, good: int, high: float = 0.95, low: float = 0.4) -> Crowd:
    """Workers w0 to w<good-1> are right with probability ``high``, the rest with ``low``.

    A response depends on worker and question only: asking again gives the same.
    """

    def respond(assignment: Assignment) -> str:
        worker = int(assignment.candidate.worker.key[1:])
        rng = np.random.default_rng([seed, worker, assignment.question.number])
        return "yes" if rng.random() < (high if worker < good else low) else "no"

    return respond


def answer_all(run: Run, respond: Crowd) -> int:
    """Let the crowd answer the open questions."""
    responses = [(assignment, respond(assignment)) for assignment in open_of(run)]
    given = [(assignment, said) for assignment, said in responses if said is not None]
    return recording.record_many(run, given)


def play(run: Run, respond: Crowd, most: int = 10_000) -> Run:
    """Advance and answer until the run ends or nothing moves."""
    for _ in range(most):
        step = engine.advance(run.pk)
        run.refresh_from_db()
        if run.status == Run.Status.ENDED or (step is None and not answer_all(run, respond)):
            return run
        answer_all(run, respond)
    return run


def kept_run(**fields: object) -> Run:
    """Play a run to its guarantee, in few steps."""
    few = {"questions": 3000, "slots": 120, "slots_per_worker": 40}
    return play(make_run(**few | fields), crowd(1, good=2))

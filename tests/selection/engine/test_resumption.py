"""A killed worker process costs time, but no answer or decision."""

import os
import signal

import pytest

from selection import engine, wakeups
from selection.answers import recording
from selection.models import Run
from tests.processes import celery_worker, wait_until
from tests.worlds import crowd, make_run, open_of

pytestmark = pytest.mark.django_db(transaction=True)

FACTS = ["worker__key", "arm", "asked", "pulls", "rewards", "verdict"]


def test_run_of_a_killed_worker_ends_like_an_uninterrupted_one():
    """One assignment of each worker at a time and rounds make the end independent of batching."""
    fields = {"algorithm": "adaptive-top-k", "slots": 60, "slots_per_worker": 10, "seed": 3}
    respond = crowd(5, good=2)
    calm = to_the_end(make_run(questions=1500, **fields), respond)
    disturbed = make_run(questions=1500, **fields)
    for _ in range(3):
        with celery_worker() as worker:
            wakeups.send_step(disturbed.pk, delay=0)
            wait_for_steps(disturbed, respond, disturbed.steps + 6)
            os.killpg(worker.pid, signal.SIGKILL)
        disturbed.refresh_from_db()
        assert disturbed.status == Run.Status.RUNNING
    with celery_worker():
        wakeups.send_step(disturbed.pk, delay=0)  # as the sweep does
        wait_until(lambda: answered(disturbed, respond).status == Run.Status.ENDED, "the end")
    assert ending(disturbed) == ending(calm)


def wait_for_steps(run: Run, respond, steps: int) -> None:
    wait_until(lambda: answered(run, respond).steps >= steps, "a few steps")


def to_the_end(run: Run, respond) -> Run:
    while run.status == Run.Status.RUNNING:
        answered(run, respond)
        engine.advance(run.pk)
    return run


def answered(run: Run, respond) -> Run:
    recording.record_many(run, [(a, respond(a)) for a in open_of(run)])
    run.refresh_from_db()
    return run


def ending(run: Run) -> tuple:
    run.refresh_from_db()
    return run.ending, list(run.candidates.order_by("arm").values_list(*FACTS))

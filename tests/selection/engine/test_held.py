"""A locked run does not delay the other runs. (SQLite has no row locks.)"""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import connection, connections, transaction

from selection import engine, tasks
from selection.errors import Busy
from selection.models import Assignment, Heartbeat, Run
from selection.questions import corrections
from selection.questions.corrections import Gold
from tests.processes import wait_until
from tests.worlds import make_run

needs_rows = pytest.mark.skipif(connection.vendor == "sqlite", reason="it locks the whole file")
pytestmark = [pytest.mark.django_db(transaction=True), needs_rows]

WAITS_FOR_US = """
    SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))
"""


@pytest.fixture
def held():
    """Yield a run that another connection locks until the end of the test."""
    run = make_run()
    holds, over = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            Run.objects.locked(run.pk)
            holds.set()
            over.wait(60)
        connections.close_all()

    thread = threading.Thread(target=hold)
    thread.start()
    assert holds.wait(10)
    yield run
    over.set()
    thread.join()


def test_a_step_does_not_wait_for_a_held_run(held):
    with pytest.raises(Busy):
        engine.advance(held.pk, wait=False)


def test_the_task_leaves_it_for_later_and_takes_the_next_run(held):
    other = make_run()
    tasks.advance(held.pk)
    tasks.advance(other.pk)
    assert not held.history.exists()
    assert other.history.count() == 1


def test_a_sweep_goes_on_with_the_rest(held):
    tasks.sweep()
    assert Heartbeat.objects.last_seen(Heartbeat.SWEEP) is not None


def test_lock_wait_is_limited_to_ten_seconds(held):
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("10s",)


def test_a_step_deals_a_question_that_is_being_corrected():
    """The correction holds the question and waits for the run; the step holds the run and must not
    wait for the question."""
    run = make_run(slots=2)
    engine.advance(run.pk)
    dealt = Assignment.objects.select_related("question").first()
    asked = dealt.question
    other = run.candidates.exclude(assignments__question=asked).first()

    def correct() -> list[Run]:
        gold = replace(Gold.from_question(asked), accepted=["something else"])
        try:
            return corrections.correct_question(asked, gold, "her", "typo")
        finally:
            connections.close_all()

    def waits() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(WAITS_FOR_US)
            return bool(cursor.fetchone())

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Run.objects.locked(run.pk)
            correcting = pool.submit(correct)
            wait_until(waits, "the correction to want the run", 8)
            Assignment.objects.create(candidate=other, question=asked, position=other.asked, step=1)
        assert correcting.result() == [run]

"""A run that somebody holds keeps nobody from the other runs. (SQLite has no rows to hold.)"""

import threading

import pytest
from django.db import connection, connections, transaction

from selection import engine, tasks
from selection.errors import Busy
from selection.models import Pulse, Run
from tests.worlds import make_run

needs_rows = pytest.mark.skipif(connection.vendor == "sqlite", reason="it locks the whole file")
pytestmark = [pytest.mark.django_db(transaction=True), needs_rows]


@pytest.fixture
def held():
    """A run that another connection holds until the test is over."""
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
    assert Pulse.objects.seen(Pulse.SWEEP) is not None


def test_whoever_waits_is_told_in_the_end(held):
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("10s",)

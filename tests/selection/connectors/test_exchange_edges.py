"""Rare events: returns, repeats, races and kills."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from selection import connectors, db_clock, engine
from selection.answers import overdue
from selection.connectors import CONNECTORS, intake, wanted_tasks
from selection.connectors.connector import LostTasks, OutsideAnswer
from selection.connectors.faults import Rejected
from selection.models import Assignment, Candidate, Connection, ConnectorCall, OutsideTask
from selection.outbox import leases
from selection.runs import lifecycle
from tests.connector_stub import Stub, make_connection, outage
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db
State = OutsideTask.State


@pytest.fixture
def run(stub):
    made = make_run()
    engine.advance(made.pk)
    return made


@pytest.fixture
def link(run):
    return connectors.connect_run(run, make_connection())


def exchange(link):
    Connection.objects.update(rests_until=db_clock.database_now() - timedelta(seconds=1))
    connectors.exchange(link.connection_id)
    link.refresh_from_db()
    link.connection.refresh_from_db()


def numbers(run):
    return {one.pk for one in open_of(run)}


# -- tasks that are wanted again


def test_a_run_that_is_connected_again_gets_its_tasks_back(run, link, stub):
    exchange(link)
    connectors.disconnect_run(link)
    exchange(link)
    assert stub.there == {}
    connectors.connect_run(run, link.connection)
    exchange(link)
    assert set(stub.there) == numbers(run) != set()


def test_second_connection_takes_over_the_tasks(run, link, stub):
    stub.faults = [Rejected("Too long.")]  # a refused task is not refused by the other one
    exchange(link)
    connectors.disconnect_run(link)
    exchange(link)
    other = connectors.connect_run(run, make_connection(name="Theirs"))
    exchange(other)
    assert set(stub.there) == numbers(run) != set()
    assert other.tasks.filter(state=State.SENT).count() == len(numbers(run))


def test_returning_worker_gets_their_tasks_back(run, link, stub):
    exchange(link)
    one = open_of(run)[0]
    Candidate.objects.filter(pk=one.candidate_id).update(gone=Candidate.Gone.LEFT)
    exchange(link)
    assert one.pk not in stub.there
    Candidate.objects.filter(pk=one.candidate_id).update(gone="")
    exchange(link)
    assert set(stub.there) == numbers(run)


# -- repeats


def test_repeated_call_finds_the_tasks_of_an_earlier_one(run, link, stub):
    stub.lost = [outage()]
    exchange(link)
    stub.faults = [Rejected("The task is too long.", 400)]
    exchange(link)
    connectors.repeat_call(link.calls.get(due=None, delivered=None))
    exchange(link)
    assert stub.made == len(stub.there) == len(numbers(run))


def test_exchange_searches_lost_tasks_before_sending_them_again(run, link, stub):
    """A page of a list that changes meanwhile may miss tasks that are there."""
    exchange(link)
    assert connectors.take_news([LostTasks(link, sorted(stub.there)[:2])]) == 1
    exchange(link)
    assert stub.made == len(stub.there)


def test_process_killed_while_tasks_return_loses_no_task(run, link, stub, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    exchange(link)
    gone = sorted(stub.there)[0]
    with monkeypatch.context() as patch:
        patch.setattr(wanted_tasks, "_queue_calls", stop)
        with pytest.raises(KeyboardInterrupt):
            connectors.take_news([LostTasks(link, [gone])])
    del stub.there[gone]
    connectors.take_news([LostTasks(link, [gone])])
    exchange(link)
    assert set(stub.there) == numbers(run)


# -- leases


class Interrupted(Stub):
    """Something happens before the second request of each call."""

    meanwhile: Callable[[], object]

    def send_assignments(self, link, tasks):
        sent = super().send_assignments(link, tasks)
        self.meanwhile()
        leases.renew_lease()
        return sent


@pytest.fixture
def interrupted(monkeypatch):
    one = Interrupted()
    monkeypatch.setattr(leases, "SECONDS", 0.0)
    monkeypatch.setitem(CONNECTORS, Stub.name, one)
    return one


def test_a_long_call_renews_its_lease(run, link, interrupted):
    leases_kept = []

    def let_time_pass():
        ConnectorCall.objects.pending().update(due=db_clock.database_now() - timedelta(seconds=9))
        leases.renew_lease()
        leases_kept.append(not ConnectorCall.objects.ready().filter(tries=1).exists())

    interrupted.meanwhile = let_time_pass
    exchange(link)
    assert leases_kept
    assert all(leases_kept)
    assert set(interrupted.there) == numbers(run)


def test_a_process_that_lost_its_lease_stops_and_records_nothing(run, link, interrupted):
    """It was frozen for so long that another process has begun the call anew."""
    interrupted.meanwhile = lambda: ConnectorCall.objects.filter(tries=1).update(tries=2)
    exchange(link)
    assert not link.tasks.exclude(state=State.WAITING).exists()
    assert link.connection.problem == ""
    interrupted.meanwhile = lambda: None
    ConnectorCall.objects.pending().update(due=db_clock.database_now())
    exchange(link)
    assert interrupted.made == len(interrupted.there) == len(numbers(run))


# -- answers


def response_of(run, number):
    return run.answers.get(assignment=number).response


def test_an_older_state_read_at_the_same_time_replaces_no_edit(run, link, monkeypatch):
    """A poll reads the task, then a message stores the later edit, then the poll goes on."""
    exchange(link)
    number = open_of(run)[0].pk
    poll = OutsideAnswer(link, number, "yes", revision="1")
    edit = OutsideAnswer(link, number, "no", revision="2")
    record = intake._record

    def record_late(task, item):
        monkeypatch.undo()
        intake.take_answer(edit)
        return record(task, item)

    monkeypatch.setattr("selection.connectors.intake._record", record_late)
    intake.take_answer(poll)
    assert response_of(run, number) == "no"
    assert OutsideTask.objects.get(number=number).revision == "2"


def test_an_answer_that_came_too_late_is_not_counted_by_its_edit(run, link):
    exchange(link)
    number = open_of(run)[0].pk
    past = db_clock.database_now() - timedelta(seconds=5)
    Assignment.objects.filter(pk=number).update(due=past)
    overdue.expire_overdue()
    for revision in "12":
        connectors.take_news([OutsideAnswer(link, number, "yes", revision=revision)])
    assert run.answers.get(assignment=number).right is False


def test_a_skipped_task_is_not_answered_after_its_time(run, link):
    exchange(link)
    number = open_of(run)[0].pk
    connectors.take_news([OutsideAnswer(link, number, None, revision="1")])
    past = db_clock.database_now() - timedelta(seconds=5)
    Assignment.objects.filter(pk=number).update(due=past)
    connectors.take_news([OutsideAnswer(link, number, "yes", revision="2")])
    assert run.answers.get(assignment=number).right is False


def test_answers_given_since_the_last_poll_count_when_a_run_is_disconnected(run, link, stub):
    exchange(link)
    number = open_of(run)[0].pk
    stub.news = [OutsideAnswer(link, number, "yes", revision="1")]
    connectors.disconnect_run(link)
    exchange(link)
    assert response_of(run, number) == "yes"
    assert set(stub.there) == {number}  # it stays as a record


def test_an_answer_given_while_its_task_is_removed_counts(run, link, stub):
    exchange(link)
    number = open_of(run)[0].pk
    stub.answered = {number}
    connectors.disconnect_run(link)
    exchange(link)
    assert set(stub.there) == {number}
    stub.news = [OutsideAnswer(link, number, "yes", revision="1")]
    exchange(link)
    assert response_of(run, number) == "yes"
    assert not link.tasks.present().exists()


def test_an_answer_after_the_end_stays_there_and_does_not_count(run, link, stub):
    exchange(link)
    number = open_of(run)[0].pk
    stub.news = [OutsideAnswer(link, number, "yes", revision="1")]
    lifecycle.stop_run(run)
    exchange(link)
    assert set(stub.there) == {number}
    assert not run.answers.exists()
    assert link.tasks.get(state=State.ANSWERED).number == number


def test_an_answer_to_a_withdrawn_task_stays_there(run, link, stub):
    exchange(link)
    number = open_of(run)[0].pk
    Assignment.objects.filter(pk=number).delete()
    connectors.take_news([OutsideAnswer(link, number, "yes", revision="1")])
    exchange(link)
    assert number in stub.there
    assert not run.answers.exists()


def test_an_outage_at_the_end_keeps_the_tasks_until_their_answers_were_read(run, link, stub):
    exchange(link)
    connectors.disconnect_run(link)
    stub.faults = [outage()]
    exchange(link)
    assert link.tasks.filter(state=State.SENT).count() == len(numbers(run)) > 0
    exchange(link)
    assert stub.there == {}

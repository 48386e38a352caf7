"""Tasks on the other side follow the run's open assignments; nothing is lost or made twice."""

from datetime import timedelta

import pytest

from selection import connectors, db_clock, engine
from selection.connectors.connector import LostTasks, OutsideAnswer
from selection.connectors.faults import Denied, Rejected
from selection.models import (
    Answer,
    Assignment,
    Connection,
    ConnectorCall,
    OutsideTask,
    OutsideWorker,
)
from selection.privacy.erasure import erase_worker
from selection.runs import lifecycle
from tests.connector_stub import make_connection, outage
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
    connectors.exchange(link.connection_id)
    link.refresh_from_db()
    link.connection.refresh_from_db()


def wake(link):
    """Let the rest of the connection be over."""
    Connection.objects.update(rests_until=db_clock.database_now() - timedelta(seconds=1))


def numbers(run):
    return {one.pk for one in open_of(run)}


def test_open_assignments_become_one_task_each(run, link, stub):
    exchange(link)
    exchange(link)
    assert set(stub.there) == numbers(run) != set()
    assert stub.made == len(stub.there)
    assert set(link.tasks.values_list("state", flat=True)) == {State.SENT}
    assert ConnectorCall.objects.pending().count() == 0


def test_a_lost_reply_makes_no_task_twice(run, link, stub):
    stub.lost = [outage()]
    exchange(link)
    assert link.connection.problem == "No answer: it is down."
    wake(link)
    exchange(link)
    assert stub.made == len(stub.there) == len(numbers(run))
    assert link.connection.problem == ""


def test_a_killed_process_counts_as_a_try(run, link, stub):
    """The call had its effect, and nothing could be recorded: the next try looks first."""
    stub.lost = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        exchange(link)
    calls = len(stub.calls)
    exchange(link)
    assert stub.calls[calls:] == ["poll"]  # the call is leased
    ConnectorCall.objects.pending().update(due=db_clock.database_now())
    exchange(link)
    assert stub.made == len(stub.there) == len(numbers(run))


def test_an_outage_keeps_the_order_and_the_calls(run, link, stub):
    stub.faults = [outage()] * 3
    for _ in range(3):
        exchange(link)
        assert ConnectorCall.objects.pending().exists()
        exchange(link)  # it rests: nothing is sent
        wake(link)
    assert stub.calls.count("send") == 3
    exchange(link)
    assert set(stub.there) == numbers(run)


def test_wrong_token_waits_for_a_new_one(run, link, stub):
    stub.faults = [Denied("The token is not valid any more: enter a new one.", 401)]
    exchange(link)
    assert "enter a new one" in link.connection.problem
    assert link.connection.rests_until - db_clock.database_now() > timedelta(minutes=4)
    connectors.save_connection(link.connection, name="Ours", address="", secrets={"token": "new"})
    exchange(link)
    assert set(stub.there) == numbers(run)


def test_a_refused_call_is_told_and_may_be_repeated(run, link, stub):
    stub.faults = [Rejected("The task is too long.", 400)]
    exchange(link)
    assert link.problem == "The task is too long."
    assert link.tasks.filter(state=State.REFUSED).exists()
    failed = ConnectorCall.objects.get(due=None, delivered=None)
    connectors.repeat_call(failed)
    exchange(link)
    assert set(stub.there) == numbers(run)


def test_a_paused_connection_sends_nothing_until_it_goes_on(run, link, stub):
    connectors.pause_connection(link.connection, True)
    exchange(link)
    assert stub.calls == []
    assert ConnectorCall.objects.pending().exists()
    connectors.pause_connection(link.connection, False)
    exchange(link)
    assert set(stub.there) == numbers(run)


def test_withdrawn_and_unwanted_tasks_are_removed(run, link, stub):
    exchange(link)
    one, two, *rest = open_of(run)
    Assignment.objects.filter(pk=one.pk).delete()
    two.candidate.verdict = -1
    two.candidate.save()
    exchange(link)
    assert one.pk not in stub.there
    assert two.pk not in stub.there
    assert set(stub.there) <= {each.pk for each in rest}
    lifecycle.stop_run(run)
    exchange(link)
    assert stub.there == {}


def test_disconnecting_removes_open_tasks(run, link, stub):
    exchange(link)
    connectors.disconnect_run(link)
    exchange(link)
    assert stub.there == {}
    assert numbers(run)


def test_tasks_deleted_by_hand_are_sent_again(run, link, stub):
    exchange(link)
    gone = sorted(stub.there)[:2]
    for number in gone:
        del stub.there[number]
    stub.news = [LostTasks(link, gone, "Two tasks were deleted.")]
    exchange(link)
    stub.news = []
    exchange(link)
    assert set(stub.there) == numbers(run)


# -- answers


def answers(run):
    return {one.assignment_id: (one.response, one.right, one.expired) for one in run.answers.all()}


def test_an_answer_counts_once_however_often_it_comes(run, link, stub):
    exchange(link)
    slip = open_of(run)[0]
    item = OutsideAnswer(link, slip.pk, "yes", revision="2026-01-01")
    assert connectors.take_news([item, item, item]) == 1
    stub.news = [item]
    exchange(link)
    assert answers(run) == {slip.pk: ("yes", True, False)}
    assert slip.pk in stub.there  # it stays as a record


def test_the_latest_edit_before_counting_wins(run, link):
    exchange(link)
    slip = open_of(run)[0]
    connectors.take_news([OutsideAnswer(link, slip.pk, "yes", revision="1")])
    connectors.take_news([OutsideAnswer(link, slip.pk, "no", revision="3")])
    connectors.take_news([OutsideAnswer(link, slip.pk, "yes", revision="2")])
    assert answers(run)[slip.pk] == ("no", False, False)
    engine.advance(run.pk)
    connectors.take_news([OutsideAnswer(link, slip.pk, "yes", revision="4")])
    assert answers(run)[slip.pk] == ("no", False, False)


def test_a_skip_is_a_refusal_until_it_is_answered(run, link):
    exchange(link)
    one, two = open_of(run)[:2]
    connectors.take_news([OutsideAnswer(link, one.pk, None, revision="1")])
    connectors.take_news([OutsideAnswer(link, two.pk, None, revision="1")])
    connectors.take_news([OutsideAnswer(link, two.pk, "yes", revision="2")])
    assert answers(run) == {one.pk: ("", False, True), two.pk: ("yes", True, False)}


def test_answer_of_another_person_does_not_count(run, link):
    exchange(link)
    slip = open_of(run)[0]
    connectors.take_news([OutsideAnswer(link, slip.pk, "yes", ["eve@example.org"])])
    link.refresh_from_db()
    assert "eve@example.org" in link.problem
    connectors.take_news([OutsideAnswer(link, slip.pk, "yes", [slip.candidate.worker.key])])
    assert Answer.objects.count() == 1


def test_an_answer_outside_the_choices_is_a_problem_and_no_answer(run, link):
    run.question_set.questions.update(choices=["yes", "no"])
    exchange(link)
    slip = open_of(run)[0]
    connectors.take_news([OutsideAnswer(link, slip.pk, "maybe")])
    link.refresh_from_db()
    assert "not among the choices" in link.problem
    assert not Answer.objects.exists()


def test_an_answer_to_a_withdrawn_or_unknown_task_is_ignored(run, link):
    exchange(link)
    slip = open_of(run)[0]
    Assignment.objects.filter(pk=slip.pk).delete()
    assert connectors.take_news([OutsideAnswer(link, slip.pk, "yes")]) == 0
    assert connectors.take_news([OutsideAnswer(link, 10**9, "yes")]) == 0


def test_an_erased_worker_is_in_no_call_and_no_note(run, link, stub):
    worker = run.pool.workers.get(key="w0")
    OutsideWorker.objects.create(link=link, worker=worker, outside_id="17")
    connectors.write_back(link, "list", ["w0", "w1"])
    exchange(link)
    connectors.take_news([OutsideAnswer(link, open_of(run)[0].pk, "yes", ["w0"])])
    link.memory = {"names": ["w0"]}
    link.save()
    pseudonym = erase_worker([worker], "her").pseudonym
    link.refresh_from_db()
    assert link.memory == {"names": [pseudonym]}
    call = ConnectorCall.objects.get(kind="selection.write")
    assert f'"{pseudonym}", "w1"' in call.body
    assert OutsideWorker.objects.get().outside_id == ""


def test_the_selection_is_written_back(run, link, stub):
    connectors.write_back(link, "list", ["w0", "w1"])
    exchange(link)
    assert stub.written == ["w0", "w1"]
    assert ConnectorCall.objects.get(kind="selection.write").said == "2 written."

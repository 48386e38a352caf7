"""Bonuses on Prolific: confirmed by amount, and never paid twice."""

from decimal import Decimal

import pytest

from selection import connectors, db_clock
from selection.connectors.platforms import prolific
from selection.errors import Conflict
from selection.models import ConnectorCall, RunConnection
from tests.prolific_stub import TOKEN, WORKSPACE, ProlificStub
from tests.prolific_world import DUE, SETTINGS, URL, WORKERS, exchange

pytestmark = pytest.mark.django_db


def statuses(link: RunConnection) -> list[str]:
    return [batch.state for batch in prolific.list_batches(link)]


def paid(there: ProlificStub) -> list[list[float]]:
    return [there.paid_to(worker) for worker in WORKERS[:2]]


def test_bonuses_are_paid_once_a_person_has_confirmed_the_amount(payable, there, prolific_run):
    proposal = prolific.propose_bonuses(payable, DUE)
    assert proposal.rows == {WORKERS[0]: Decimal("1.50"), WORKERS[1]: Decimal("0.75")}
    with pytest.raises(Conflict, match=r"are 2\.25 now, not 2\.00"):
        prolific.confirm_bonuses(payable, DUE, Decimal("2.00"))
    assert not there.bulks
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"), "ada")
    with pytest.raises(Conflict, match="No bonus is due"):
        prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    exchange(payable)
    exchange(payable)
    assert paid(there) == [[150.0], [75.0]]
    assert statuses(payable) == ["paid"]
    assert prolific_run.events.filter(kind="bonus", who="ada").exists()
    more = DUE | {WORKERS[0]: Decimal("2.00")}
    assert prolific.propose_bonuses(payable, more).rows == {WORKERS[0]: Decimal("0.50")}
    prolific.confirm_bonuses(payable, more, Decimal("0.50"))
    exchange(payable)
    assert paid(there) == [[150.0, 50.0], [75.0]]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["lost", 429, 500, "500 after"])
def test_a_fault_while_a_batch_is_set_up_pays_once(payable, there, fault):
    there.faults["POST"] = [fault]
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    for _ in range(3):
        exchange(payable)
    assert paid(there) == [[150.0], [75.0]]
    assert statuses(payable) == ["paid"]


def test_too_many_requests_while_paying_is_repeated(payable, there):
    there.faults["POST"] = [None, 429, 429]
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    for _ in range(4):
        exchange(payable)
    assert paid(there) == [[150.0], [75.0]]
    assert statuses(payable) == ["paid"]


@pytest.mark.parametrize("fault", ["lost", "500 after"])
def test_a_lost_reply_to_a_payment_never_pays_twice_and_is_found_out(payable, there, fault):
    there.faults["POST"] = [None, fault]
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    for _ in range(4):
        exchange(payable)
    assert paid(there) == [[150.0], [75.0]]
    assert statuses(payable) == ["paid"]  # the submissions show it
    assert payable.problem == ""


def test_a_payment_that_never_arrived_waits_for_a_person(payable, there):
    there.faults["POST"] = [None, 500]
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    for _ in range(4):
        exchange(payable)
    assert statuses(payable) == ["uncertain"]
    assert paid(there) == [[], []]
    assert "CrowdSelect never repeats a payment" in payable.problem
    with pytest.raises(Conflict, match="No bonus is due"):
        prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    connectors.repeat_call(ConnectorCall.objects.get(kind="bonuses"))
    exchange(payable)
    assert paid(there) == [[], []]
    (batch,) = prolific.list_batches(payable)
    prolific.settle_bonuses(payable, batch.key, paid=False)
    with pytest.raises(Conflict, match="The result of this payment is known"):
        prolific.settle_bonuses(payable, batch.key, paid=True)
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    exchange(payable)
    assert paid(there) == [[150.0], [75.0]]
    assert statuses(payable) == ["unpaid", "paid"]


def test_a_killed_process_pays_nothing_twice(payable, there, monkeypatch):
    """The payment took place, and nothing could be recorded."""
    original = prolific.session.Session.write

    def killed(self, method, path, body=None):
        reply = original(self, method, path, body)
        if path.endswith("/pay/"):
            raise KeyboardInterrupt
        return reply

    monkeypatch.setattr(prolific.session.Session, "write", killed)
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    with pytest.raises(KeyboardInterrupt):
        exchange(payable)
    monkeypatch.undo()
    ConnectorCall.objects.pending().update(due=db_clock.database_now())
    exchange(payable)
    assert paid(there) == [[150.0], [75.0]]
    assert statuses(payable) == ["paid"]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["bonus-payments/", "/submissions/"])
def test_two_processes_at_the_same_batch_pay_it_once(payable, there, monkeypatch, end):
    """The first one is so slow that its lease ends and another one takes the call over."""
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    original, busy = prolific.session.send, []

    def slow(connection, method, path, *given):
        reply = original(connection, method, path, *given)
        if path.endswith(end) and not busy:
            busy.append(path)
            ConnectorCall.objects.pending().update(due=db_clock.database_now())
            exchange(RunConnection.objects.get())
        return reply

    monkeypatch.setattr(prolific.session, "send", slow)
    exchange(payable)
    exchange(payable)
    assert busy
    assert paid(there) == [[150.0], [75.0]]
    assert statuses(payable) == ["paid"]


def test_a_later_payment_of_the_same_amount_settles_no_uncertain_batch(payable, there):
    due = {WORKERS[0]: Decimal("0.50")}
    there.faults["POST"] = [None, 500]
    prolific.confirm_bonuses(payable, due, Decimal("0.50"))
    exchange(payable)
    prolific.confirm_bonuses(payable, {WORKERS[0]: Decimal("1.00")}, Decimal("0.50"))
    for _ in range(2):
        exchange(payable)
    assert there.paid_to(WORKERS[0]) == [50.0]
    assert statuses(payable) == ["uncertain", "paid"]


def test_a_second_connection_pays_nothing_again(payable, there, prolific_run):
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    exchange(payable)
    connectors.disconnect_run(payable)
    other = connectors.create_connection(
        1, "prolific", "New", {"token": TOKEN}, there.url, {"workspace": WORKSPACE}
    )
    second = connectors.connect_run(prolific_run, other, SETTINGS)
    connectors.exchange(other.pk)
    prolific.request_study(second, URL)
    exchange(second)
    there.studies = {second.memory["study"]: there.studies[second.memory["study"]]}
    there.submissions.clear()
    for worker in WORKERS[:2]:
        there.submit(worker, "APPROVED")
    exchange(second)
    assert prolific.propose_bonuses(second, DUE).rows == {}
    more = DUE | {WORKERS[0]: Decimal("2.00")}
    assert prolific.propose_bonuses(second, more).rows == {WORKERS[0]: Decimal("0.50")}


def test_new_settings_while_a_batch_is_paid_keep_its_state(
    payable, there, prolific_run, monkeypatch
):
    """The settings of the run are changed, and the payment takes place meanwhile."""
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))

    def pay_meanwhile(self, link):
        exchange(RunConnection.objects.get())

    monkeypatch.setattr(type(prolific.CONNECTOR), "prepare", pay_meanwhile)
    connectors.connect_run(prolific_run, payable.connection, SETTINGS | {"places": 7})
    payable.refresh_from_db()
    assert payable.settings["places"] == 7
    assert statuses(payable) == ["paid"]


def test_a_refused_batch_is_due_again(payable, there):
    there.faults["POST"] = [400]
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    exchange(payable)
    assert statuses(payable) == ["failed"]
    failed = ConnectorCall.objects.get(kind="bonuses")
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    connectors.repeat_call(failed)
    exchange(payable)
    assert paid(there) == [[150.0], [75.0]]

"""Bonuses on Prolific: confirmed by amount, and never paid twice."""

from decimal import Decimal

import pytest

from selection import connectors, db_clock
from selection.connectors.platforms import prolific
from selection.connectors.platforms.prolific import bonuses
from selection.connectors.platforms.prolific.session import Session
from selection.errors import Conflict
from selection.models import ConnectorCall, RunConnection
from tests.prolific_stub import ProlificStub
from tests.prolific_world import DUE, WORKERS, exchange

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


def test_two_processes_pay_a_batch_once(payable, there, monkeypatch):
    """A slow process loses its lease while it reads, and another one pays."""
    original, key = bonuses.read_submissions, []

    def slow(ours):
        rows = original(ours)
        if not key:
            key.append(prolific.list_batches(payable)[0].key)
            fresh = RunConnection.objects.select_related("run", "connection").get(pk=payable.pk)
            bonuses.pay_batch(Session(fresh), key[0])
        return rows

    monkeypatch.setattr(bonuses, "read_submissions", slow)
    prolific.confirm_bonuses(payable, DUE, Decimal("2.25"))
    for _ in range(3):
        exchange(payable)
    assert paid(there) == [[150.0], [75.0]]
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

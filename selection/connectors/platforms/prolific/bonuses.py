"""Bonuses: a person confirms each batch by its amount, and no batch is paid twice.

*Pay bonuses* is not idempotent, and its reply may be lost. So a batch is noted as *paying* before
the call, by one process only. After a lost reply it is never paid again by itself: the submissions
show whether the payment took place, or a person says so.

States of a batch: confirmed, created (set up there), paying, paid, uncertain (the reply was lost),
unpaid (a person says that it was not paid) and failed (refused before the payment).
"""

import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any

from django.db import transaction

from selection.connectors.call_queue import queue_call
from selection.connectors.faults import Denied, Fault, Missing, Outage, Rejected
from selection.errors import Conflict, NotFound, Refused
from selection.history import events
from selection.models import RunConnection
from selection.texts import counted

from .session import Session, add_notes
from .submissions import APPROVED, AWAITING, read_submissions

MOST_ROWS = 200  # of a batch, by the reference
CENT = Decimal("0.01")
# States in which the amounts may have reached their workers, or will.
COMMITTED = ("confirmed", "created", "paying", "paid", "uncertain")
ASKED = ("paying", "paid", "uncertain")  # Prolific was asked to pay the batch
TOO_MANY = 429  # nothing was paid
QUICKER = "Another process is paying these bonuses."
LOST = (
    "The reply to a payment of bonuses was lost. CrowdSelect never repeats a payment: look at "
    "Prolific’s list of payments, then enter the result under Bonuses."
)


@dataclass(frozen=True)
class Batch:
    """A batch of bonuses.

    rows   amount by participant
    state  see above; empty for a proposal
    """

    key: str
    rows: dict[str, Decimal]
    state: str = ""

    @property
    def total(self) -> Decimal:
        return sum(self.rows.values(), Decimal(0)).quantize(CENT)


def list_batches(link: RunConnection) -> list[Batch]:
    stored = link.memory.get("bonuses", {})
    return [
        Batch(key, {worker: Decimal(cents) / 100 for worker, cents in one["rows"]}, one["state"])
        for key, one in sorted(stored.items(), key=lambda item: item[1]["number"])
    ]


def propose_bonuses(link: RunConnection, due: Mapping[str, Decimal]) -> Batch:
    """Propose the next batch: what is due and not confirmed yet.

    due  the whole amount of each worker, in the study's currency; only participants of the study
         whose submission is complete can be paid

    Batches of the run's other connections to Prolific, as of an earlier one, are subtracted too.
    """
    confirmed: dict[str, Decimal] = defaultdict(Decimal)
    all_links = RunConnection.objects.filter(run=link.run_id, connection__kind="prolific")
    for batch in chain.from_iterable(map(list_batches, all_links)):
        if batch.state in COMMITTED:
            for worker, amount in batch.rows.items():
                confirmed[worker] += amount
    payable = {
        one.worker.key
        for one in link.workers.select_related("worker")
        if one.notes.get("status") in (APPROVED, AWAITING)
    }
    rest = {
        worker: (amount - confirmed[worker]).quantize(CENT)
        for worker, amount in sorted(due.items())
        if worker in payable
    }
    rows = {worker: amount for worker, amount in rest.items() if amount > 0}
    return Batch("", dict(list(rows.items())[:MOST_ROWS]))


@transaction.atomic
def confirm_bonuses(
    link: RunConnection, due: Mapping[str, Decimal], total: Decimal, who: str = ""
) -> Batch:
    """Queue the payment of the next batch, whose amount a person confirmed; return the batch.

    Raises Conflict if the amount is another one by now, or if nothing is due.
    """
    locked = RunConnection.objects.select_for_update().get(pk=link.pk)
    proposal = propose_bonuses(locked, due)
    if not proposal.rows:
        raise Conflict("No bonus is due.")
    if proposal.total != total:
        raise Conflict(
            f"The bonuses due are {proposal.total} now, not {total}: confirm the new amount."
        )
    batch = Batch(secrets.token_hex(6), proposal.rows, "confirmed")
    rows = [[worker, int(amount * 100)] for worker, amount in batch.rows.items()]
    number = len(locked.memory.get("bonuses", {}))  # databases keep no order of keys
    _store(locked, batch.key, {"number": number, "rows": rows, "state": batch.state})
    queue_call(locked.connection, "bonuses", {"batch": batch.key}, locked)
    sentence = f"Bonuses of {batch.total} for {counted(len(rows), 'worker')} were confirmed."
    events.write_event(locked.run, "bonus", sentence, who)
    link.memory = locked.memory
    return batch


@transaction.atomic
def settle_bonuses(link: RunConnection, key: str, paid: bool, who: str = "") -> None:
    """Note what a person found out about an uncertain batch; unpaid amounts are due again."""
    locked = RunConnection.objects.select_for_update().get(pk=link.pk)
    batch = locked.memory.get("bonuses", {}).get(key)
    if batch is None:
        raise NotFound("The run has no batch of bonuses with this key.")
    if batch["state"] != "uncertain":
        raise Conflict("The result of this payment is known.")
    _store(locked, key, batch | {"state": "paid" if paid else "unpaid"})
    if locked.problem == LOST:
        RunConnection.objects.filter(pk=locked.pk).update(problem="")
    result = "paid" if paid else "not paid"
    events.write_event(locked.run, "bonus", f"Result of an uncertain payment: {result}.", who)
    link.memory = locked.memory


def plan_payment(session: Session, rows: Mapping[str, Decimal]) -> None:
    """List the calls that a dry run would pay these amounts with."""
    body = {"study_id": session.memory["study"], "csv_bonuses": _csv_lines(rows)}
    number = session.write("POST", "submissions/bonus-payments/", body)["id"]
    session.write("POST", f"bulk-bonus-payments/{number}/pay/")


def _csv_lines(rows: Mapping[str, Decimal]) -> str:
    return "".join(f"{worker},{amount:.2f}\n" for worker, amount in rows.items())


def pay_batch(session: Session, key: str) -> str:
    """Set the batch up and pay it; return a sentence. Raises a Fault if it is not surely paid."""
    batch = session.memory["bonuses"][key]
    if batch["state"] in ("paid", "unpaid"):
        return f"The bonuses of this batch: {batch['state']}."
    if batch["state"] == "failed":
        raise Refused("This batch was refused: confirm the bonuses again.")
    if batch["state"] in ("paying", "uncertain"):
        return _look_for_payment(session, key, batch)
    if batch["state"] == "confirmed":
        batch = _set_up(session, key, batch)
    return _pay(session, key, batch)


def _set_up(session: Session, key: str, batch: dict[str, Any]) -> dict[str, Any]:
    """Set the batch up there, which pays nothing; a lost reply leaves an unpaid one behind."""
    amounts = {worker: Decimal(cents) / 100 for worker, cents in batch["rows"]}
    body = {"study_id": session.memory["study"], "csv_bonuses": _csv_lines(amounts)}
    try:
        reply = session.write("POST", "submissions/bonus-payments/", body)
    except (Rejected, Missing):
        _change_state(session.link, key, batch | {"state": "failed"}, "confirmed")
        raise
    batch = batch | {"state": "created", "id": reply["id"]}
    if not _change_state(session.link, key, batch, "confirmed"):
        raise Outage(QUICKER)
    return batch


def _pay(session: Session, key: str, batch: dict[str, Any]) -> str:
    before = _payments(session)
    paying = batch | {
        "state": "paying",
        "before": {worker: before[worker] for worker, _ in batch["rows"]},
    }
    if not _change_state(session.link, key, paying, "created"):
        raise Outage(QUICKER)
    try:
        session.write("POST", f"bulk-bonus-payments/{batch['id']}/pay/")
    except Fault as fault:
        if isinstance(fault, Outage) and fault.code != TOO_MANY:
            _change_state(session.link, key, paying | {"state": "uncertain"}, "paying")
            raise Rejected(LOST, fault.code) from fault
        state = "created" if isinstance(fault, Outage | Denied) else "failed"
        _change_state(session.link, key, batch | {"state": state}, "paying", "uncertain")
        raise
    _store(session.link, key, paying | {"state": "paid"})
    return f"{len(batch['rows']):,} bonuses paid."


def _look_for_payment(session: Session, key: str, batch: dict[str, Any]) -> str:
    if _is_paid(session.memory["bonuses"], key, _payments(session)):
        _change_state(session.link, key, batch | {"state": "paid"}, "paying", "uncertain")
        return "The payment was found on Prolific."
    _change_state(session.link, key, batch | {"state": "uncertain"}, "paying")
    raise Rejected(LOST)


def verify_uncertain(session: Session, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Note the uncertain batches as paid that the submissions show as paid."""
    batches = session.memory.get("bonuses", {})
    for key, batch in batches.items():
        if batch["state"] == "uncertain" and _is_paid(batches, key, _payments_of(rows)):
            _change_state(session.link, key, batch | {"state": "paid"}, "uncertain")
            if session.link.problem == LOST:
                session.link.problem = ""
                RunConnection.objects.filter(pk=session.link.pk).update(problem="")


def _is_paid(batches: Mapping[str, dict[str, Any]], key: str, now: Mapping[str, list[int]]) -> bool:
    """Tell if each worker of the batch has a payment of the amount more than before.

    Payments that a later batch may have made do not count.
    """
    batch = batches[key]
    later = Counter(
        (worker, cents)
        for one in batches.values()
        if one["number"] > batch["number"] and one["state"] in ASKED
        for worker, cents in one["rows"]
    )
    return all(
        now[worker].count(cents) - batch["before"].get(worker, []).count(cents)
        > later[worker, cents]
        for worker, cents in batch["rows"]
    )


def _payments(session: Session) -> Mapping[str, list[int]]:
    return _payments_of(read_submissions(session))


def _payments_of(rows: Mapping[str, Mapping[str, Any]]) -> Mapping[str, list[int]]:
    """Read the bonuses of each participant in pence or cents, as their submissions show."""
    payments: dict[str, list[int]] = defaultdict(list)
    for worker, row in rows.items():
        payments[worker] = [round(amount) for amount in row.get("bonus_payments") or []]
    return payments


def _store(link: RunConnection, key: str, batch: dict[str, Any]) -> None:
    with transaction.atomic():
        stored = RunConnection.objects.select_for_update().get(pk=link.pk)
        add_notes(link, bonuses={**stored.memory.get("bonuses", {}), key: batch})


@transaction.atomic
def _change_state(link: RunConnection, key: str, batch: dict[str, Any], *since: str) -> bool:
    """Store the batch; return False if its state is none of these, by another process."""
    stored = RunConnection.objects.select_for_update().get(pk=link.pk)
    if stored.memory["bonuses"][key]["state"] not in since:
        return False
    _store(link, key, batch)
    return True

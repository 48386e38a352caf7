"""The ledger with several processes at the same time."""

import threading
import time

import numpy as np
import pytest
from django.db import connection, transaction
from django.db.models import Sum

from selection import engine, wakeups
from selection.engine import arrays, withdrawal
from selection.model_workers import ledger
from selection.model_workers.call_pool import CallPool
from selection.model_workers.claims import Claim
from selection.model_workers.dispatcher import Dispatcher
from selection.model_workers.server_calls import Outcome
from selection.models import Answer, Assignment, ModelCall, ModelServer, ModelSpending, Run
from tests.selection.engine.test_concurrency import in_threads
from tests.selection.model_workers.conftest import make_model_run

pytestmark = pytest.mark.django_db(transaction=True)
PRICE = 10_000_000
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"
REPLY = Outcome(5, reply="yes", tokens_in=1, tokens_out=1)


def start_run() -> tuple[Run, list[Claim]]:
    endpoint = {"price_call": 0.01}
    url, one_each = "http://127.0.0.1:9/v1", {"slots_per_worker": 1}
    run = make_model_run(url, models=8, k=1, endpoint=endpoint, **one_each)
    engine.advance(run.pk)
    return run, Dispatcher(CallPool())._claims(ModelServer.objects.get(), 100)


def test_processes_with_the_same_claims_make_each_call_once():
    _, claims = start_run()
    assert in_threads(lambda i: ledger.open_calls(claims)) == []
    assert ModelCall.objects.count() == len(claims) > 4
    assert ModelSpending.objects.get().in_flight == len(claims) * PRICE


def test_processes_never_exceed_the_limit_together():
    run, claims = start_run()
    ModelSpending.objects.create(run=run, limit=5 * PRICE)
    assert in_threads(lambda i: ledger.open_calls(claims[i:] + claims[:i])) == []
    assert ModelCall.objects.count() == 5
    with wakeups.silenced():
        in_threads(
            lambda i: ledger.close_calls({call.pk: REPLY for call in ModelCall.objects.all()})
        )
    spending = ModelSpending.objects.get()
    assert (spending.spent, spending.in_flight) == (5 * PRICE, 0)
    assert Answer.objects.count() == 5


def test_late_replies_and_a_withdrawal_at_once_keep_the_money():
    _, claims = start_run()
    opened, _ = ledger.open_calls(claims)
    ModelCall.objects.update(expires="2026-01-01T00:00Z")
    assert ledger.close_interrupted() == len(opened)

    def act(i: int) -> None:
        if i % 2:
            ledger.close_calls({call.pk: REPLY for call, _ in opened})
        else:
            ids = [claim.assignment.pk for claim in claims[i // 2 :: 4]]
            with transaction.atomic():  # as engine.withdrawal does
                unseen = Assignment.objects.filter(pk__in=ids, due=None, answer=None).order_by()
                left = list(unseen.select_for_update(of=("self",)).values_list("pk", flat=True))
                Assignment.objects.filter(pk__in=left).delete()

    assert in_threads(act) == []
    spending = ModelSpending.objects.get()
    assert (spending.spent, spending.in_flight) == (len(opened) * PRICE, 0)
    assert ModelCall.objects.aggregate(sum=Sum("cost"))["sum"] == spending.spent
    assert Answer.objects.count() == Assignment.objects.count()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no locks of rows")
def test_a_withdrawal_that_waits_for_a_late_reply_keeps_its_answer():
    run, claims = start_run()
    [(call, claim), *_], _ = ledger.open_calls(claims[:1])
    ModelCall.objects.update(expires="2026-01-01T00:00Z")
    assert ledger.close_interrupted() == 1
    replied = threading.Event()

    def is_waited_for() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            return cursor.fetchone()[0] > 0

    def act(i: int) -> None:
        if i == 0:
            with wakeups.silenced(), transaction.atomic():
                ledger.close_calls({call.pk: REPLY})
                replied.set()
                for _ in range(1000):
                    if is_waited_for():
                        break
                    time.sleep(0.01)
                else:
                    raise AssertionError("The withdrawal did not wait.")
        if i == 1:
            with transaction.atomic():
                replied.wait()
                before = arrays.load_arrays(run)
                arm = claim.assignment.candidate.arm
                withdrawal.take_back(before, np.array([arm]))

    assert in_threads(act) == []
    answered = Assignment.objects.get(pk=claim.assignment.pk)
    assert answered.answer.response == "yes"

"""Runs of models, and the laws of their calls and money."""

from collections import Counter
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Sum

from selection import db_clock
from selection.models import Endpoint, ModelCall, ModelServer, ModelSpending, Worker
from tests.worlds import make_pool

from . import traffic
from .model_servers import Servers

MODELS, LIMIT = 4, 10
GOOD, BAD = "good", "bad"  # names of the servers, and of their models
LOST = timedelta(minutes=3)  # after its lease, a call of a process that ended was closed
PRICES = {"price_in": 1, "price_out": 2, "max_tokens": 16}


def make_models(servers: Servers) -> list[int]:
    """Create a pool of models for each server; return the pools' ids."""
    pools = []
    for name, stub in ((GOOD, servers.good), (BAD, servers.bad)):
        server = ModelServer.objects.create(name=name, url=stub.url, concurrency=8)
        pool = make_pool(MODELS)
        for number, worker in enumerate(Worker.objects.filter(pool=pool).order_by("pk")):
            Endpoint.objects.create(worker=worker, server=server, model=f"{name}{number}", **PRICES)
        pools.append(pool.pk)
    return pools


class ModelRuns(traffic.Crowd):
    """Keeps a run of each server's models going; the project itself asks them."""

    def __init__(self, url: str, token: str, pools: list[int], questions: int, seed: int) -> None:
        super().__init__(url, token, pools[0], questions, seed)
        self.pools, self.threads = pools, self.threads[-1:]

    def _settings(self, number: int) -> dict[str, Any]:
        other = {"pool": self.pools[number % 2], "name": f"models {number}", "k": 1}
        return super()._settings(number) | other | {"budget": 100}

    def _start(self, client: Any, run: int) -> None:
        limit = {"limit": LIMIT}
        self._until(client, "PUT", f"runs/{run}/spending", json=limit)
        super()._start(client, run)


@transaction.atomic
def find_faults(runs: list[int]) -> list[str]:
    """Return violations: no money is lost or made up, none exceeds a limit, no model is harmed."""
    wrong = []
    for spending in ModelSpending.objects.select_for_update().filter(run__in=runs):
        calls = ModelCall.objects.filter(run=spending.run_id)
        spent = calls.aggregate(sum=Sum("cost"))["sum"] or 0
        reserved = calls.in_flight().aggregate(sum=Sum("reserved"))["sum"] or 0
        if (spending.spent, spending.in_flight) != (spent, reserved):
            wrong.append(f"money: run {spending.run_id} has {spending.spent}, calls cost {spent}")
        if spending.limit is not None and spending.spent + spending.in_flight > spending.limit:
            wrong.append(f"money: run {spending.run_id} exceeds its limit")
    long_ago = db_clock.database_now() - LOST
    lost = ModelCall.objects.in_flight().filter(run__in=runs, expires__lt=long_ago)
    wrong += [f"models: {call} is lost and was not closed" for call in lost]
    harmed = ModelCall.objects.filter(worker__endpoint__server__name=GOOD, state="replied")
    wrong += [f"models: {call} has “{call.problem}”" for call in harmed.exclude(problem="")]
    return wrong


def count_calls() -> dict[str, int]:
    """Return the number of calls by server and state."""
    rows = ModelCall.objects.values_list("worker__endpoint__server__name", "state")
    return dict(Counter(f"{name} {state}" for name, state in rows))


def end_rests() -> None:
    """Let all models be called again, as after a test call on their page."""
    for pk in Endpoint.objects.values_list("pk", flat=True):  # one by one: no deadlock
        Endpoint.objects.filter(pk=pk).update(rests_until=None, problem="", failures=0)

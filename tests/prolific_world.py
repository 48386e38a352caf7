"""A run of six participants of Prolific, with helpers for tests."""

from datetime import timedelta
from decimal import Decimal

from selection import connectors, db_clock, engine
from selection.models import Candidate, Connection, Run, RunConnection
from tests.prolific_stub import ProlificStub
from tests.worlds import answer_all

URL = "https://crowd.example.org/join/T/?PROLIFIC_PID={{%PROLIFIC_PID%}}"
SETTINGS = {"places": 6, "reward": 150, "minutes": 5, "approve": True, "block": True}
WORKERS = [f"60ffe5c8371090c7041d43{n:02x}" for n in range(6)]
HOOK = "hook-secret-1"
DUE = {WORKERS[0]: Decimal("1.50"), WORKERS[1]: Decimal("0.75"), WORKERS[5]: Decimal("9.00")}


def exchange(link: RunConnection) -> None:
    """Exchange at once, also after a fault or a recent poll."""
    Connection.objects.update(rests_until=db_clock.database_now() - timedelta(seconds=1))
    RunConnection.objects.update(polled=None)
    connectors.exchange(link.connection_id)
    link.refresh_from_db()


def members(there: ProlificStub, title: str) -> set[str]:
    (group,) = [one for one in there.groups.values() if one["name"].endswith(title)]
    return set(group["members"])


def judge(run: Run, accepted: list[str], rejected: list[str]) -> None:
    rows = Candidate.objects.filter(run=run)
    rows.filter(worker__key__in=accepted).update(verdict=1, pulls=5)
    rows.filter(worker__key__in=rejected).update(verdict=-1, pulls=5)


def answered(run: Run) -> None:
    answer_all(run, lambda one: "yes")
    engine.advance(run.pk)

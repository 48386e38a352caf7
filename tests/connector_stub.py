"""A connector with a dictionary as its other side: for tests of everything around connectors."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from selection.connectors import accounts, secret_store
from selection.connectors.connector import (
    Connector,
    Incoming,
    News,
    OutsideAnswer,
    Secret,
    Setting,
    WorkerTasks,
)
from selection.connectors.faults import Denied, NotAuthentic, Outage
from selection.imports.row_parsers import QuestionRow, WorkerRow
from selection.models import Connection, OutsideTask, RunConnection, Team, default_team


class Stub(Connector):
    """Keeps tasks by assignment's id in ``there`` and its answers in ``news``.

    faults     raised one after another, before a call has an effect
    answered   numbers of tasks that were answered: they are not removed
    lost       raised one after another, after a call had its effect: the reply is lost
    """

    name, label = "stub", "Stub"
    address = "https://stub.example.org"
    secrets = (Secret("token", "token"),)
    settings = (Setting("language", "Language", "en"),)
    run_settings = (Setting("title", "Title", "Questions"),)
    deals = True
    write_backs = (("list", "a list"),)
    actions = {"pay": "Pay"}
    poll_seconds = 0.0

    def __init__(self) -> None:
        self.there: dict[int, str] = {}
        self.made = 0
        self.calls: list[str] = []
        self.faults: list[Exception] = []
        self.lost: list[Exception] = []
        self.news: list[News] = []
        self.written: list[str] = []
        self.answered: set[int] = set()

    @contextmanager
    def _call(self, name: str) -> Iterator[None]:
        self.calls.append(name)
        if self.faults:
            raise self.faults.pop(0)
        yield
        if self.lost:
            raise self.lost.pop(0)

    def check(self, connection: Connection) -> str:
        if secret_store.read_secrets(connection).get("token") == "wrong":
            raise Denied("The token is wrong.", 401)
        return "Account “me”."

    def read_gold(self, connection: Connection, source: str) -> list[QuestionRow]:
        return [QuestionRow(1, "g1", "Yes?", ["yes"], ["yes", "no"])]

    def read_workers(self, connection: Connection, source: str) -> list[WorkerRow]:
        return [WorkerRow(1, "ann", "Ann", {})]

    def send_assignments(self, link: RunConnection, tasks: WorkerTasks) -> Mapping[int, str]:
        with self._call("send"):
            for one in tasks.assignments:
                if not (tasks.again and one.pk in self.there):
                    self.made += 1
                    self.there[one.pk] = f"t{self.made}"
        return {one.pk: self.there[one.pk] for one in tasks.assignments}

    def remove_assignments(
        self, link: RunConnection, tasks: Sequence[OutsideTask]
    ) -> Collection[int]:
        with self._call("remove"):
            for one in tasks:
                if one.number not in self.answered:
                    self.there.pop(one.number, None)
        return self.answered & {one.number for one in tasks}

    def write_back(self, link: RunConnection, how: str, workers: Sequence[str]) -> str:
        with self._call("write"):
            self.written = list(workers)
        return f"{len(workers)} written."

    def perform(self, link: RunConnection, kind: str, data: Mapping[str, Any], again: bool) -> str:
        with self._call(kind):
            return f"paid {data['amount']}"

    def poll(self, link: RunConnection) -> Iterable[News]:
        with self._call("poll"):
            return self.news

    def authenticate(self, connection: Connection, message: Incoming) -> None:
        if message.headers.get("x-secret") != connection.secret:
            raise NotAuthentic

    def receive(self, connection: Connection, message: Incoming) -> Iterable[News]:
        number, response = message.body.decode().split()
        link = RunConnection.objects.filter(connection=connection).latest("id")
        return [OutsideAnswer(link, int(number), response)]


def make_connection(team: Team | int | None = None, **changes: Any) -> Connection:
    values = {"kind": "stub", "name": "Ours", "secrets": {"token": "secret-token"}} | changes
    return accounts.create_connection(team or default_team(), **values)


def outage() -> Outage:
    return Outage("No answer: it is down.")

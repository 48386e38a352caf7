"""The connector: a project for each worker, and a task in it for each open assignment."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.utils.crypto import constant_time_compare

from selection import db_clock
from selection.connectors.connector import (
    Connector,
    Fetched,
    Incoming,
    News,
    Secret,
    Setting,
    Source,
    WorkerTasks,
)
from selection.connectors.faults import Missing, NotAuthentic, Rejected
from selection.errors import Refused
from selection.imports.row_parsers import QuestionRow, WorkerRow
from selection.models import (
    Connection,
    OutsideTask,
    OutsideWorker,
    RunConnection,
    WatchConnection,
)
from selection.outside_text import parse_json
from selection.texts import counted

from . import gold, gold_project, news, pauses, places, reading, task_data
from .client import Client
from .interface import read_control

WRONG_ADDRESS = (
    "There is no Label Studio at this address: enter the one in your browser, up to “/projects”."
)
HEADER = "x-crowdselect-secret"
BEGIN, END = "[CrowdSelect]", "[/CrowdSelect]"


class LabelStudio(Connector):
    name, label = "label_studio", "Label Studio"
    about = "Workers answer in Label Studio: each has a project with their open questions."
    address_help = "The address in your browser, up to “/projects”."
    secrets = (
        Secret(
            "token",
            "access token",
            "A personal access token or a legacy token, from Account & Settings.",
        ),
    )
    run_settings = (
        Setting(
            "project",
            "Project of the gold questions",
            kind="source",
            help="The workers' projects show its labelling interface, and the selection can be "
            "written to it. Without a project they show a plain interface.",
        ),
    )
    watch_settings = (
        Setting(
            "project",
            "Production project",
            kind="source",
            required=True,
            help="Gold questions come among its tasks. Its labelling interface must fit them.",
        ),
        Setting(
            "gold_project",
            "Project of the gold questions",
            kind="source",
            help="The project that they were read from, for an interface that shows more than one "
            "text. Blank: the production project shows the question’s text.",
        ),
    )
    deals = True
    actions: ClassVar = {places.OPEN: "Open a worker's project"}
    write_backs: ClassVar = (
        ("description", "in the project's description"),
        ("members", "as members of the project (Enterprise)"),
    )

    # -- in

    def check(self, connection: Connection) -> str:
        try:
            account = Client.of(connection).whoami()
        except Missing:
            raise Rejected(WRONG_ADDRESS) from None
        if "id" not in account:
            raise Rejected(WRONG_ADDRESS)
        return f"Account “{account.get('email') or account['id']}”."

    def list_sources(self, connection: Connection) -> list[Source]:
        rows = Client.of(connection).list_projects()
        own = [row for row in rows if not places.is_own(str(row.get("title", "")))]
        return [Source(str(row["id"]), str(row.get("title") or row["id"])) for row in own]

    def read_gold(self, connection: Connection, source: str) -> list[QuestionRow]:
        client = Client.of(connection)
        control = read_control(client.project(source))
        return reading.gold_rows(client.export_project(source), control)

    def read_workers(self, connection: Connection, source: str) -> list[WorkerRow]:
        client = Client.of(connection)
        own = client.whoami().get("id")  # it made the gold questions and knows their answers
        return reading.worker_rows([one for one in client.list_users() if one["id"] != own])

    def read_past(self, connection: Connection, source: str) -> Fetched:
        client = Client.of(connection)
        project = client.project(source)
        return reading.past_file(client.export_project(source), client.list_users(), project)

    # -- out

    def prepare(self, link: RunConnection) -> None:
        client = Client.of(link.connection)
        link.memory = {**link.memory, **task_data.prepare_memory(link, client)}
        places.refuse_strangers(link, client)

    def send_assignments(self, link: RunConnection, tasks: WorkerTasks) -> Mapping[int, str]:
        client = Client.of(link.connection)
        place = places.find_or_create(link, tasks.worker, client, tasks.again)
        try:
            return self._import_tasks(link, tasks, client, place)
        except Missing:  # deleted by hand: the tasks of earlier calls are noticed by the next poll
            places.forget(place)
            place = places.find_or_create(link, tasks.worker, client, again=False)
            return self._import_tasks(link, tasks, client, place)

    def _import_tasks(
        self, link: RunConnection, tasks: WorkerTasks, client: Client, place: OutsideWorker
    ) -> dict[int, str]:
        there = news.ids_by_number(client.list_tasks(place.place)) if tasks.again else {}
        missing = [one for one in tasks.assignments if one.pk not in there]
        if missing:
            data = [{"data": task_data.build_data(link, one)} for one in missing]
            ids = client.create_tasks(place.place, data)
            there |= {one.pk: str(pk) for one, pk in zip(missing, ids, strict=True)}
        return {one.pk: there[one.pk] for one in tasks.assignments}

    def remove_assignments(
        self, link: RunConnection, tasks: Sequence[OutsideTask]
    ) -> Collection[int]:
        worker = tasks[0].candidate.worker_id
        place = link.workers.exclude(place="").filter(worker=worker).first()
        if place is None:
            return ()
        try:
            return self._delete_tasks(Client.of(link.connection), place.place, tasks)
        except Missing:
            places.forget(place)
            return ()

    def _delete_tasks(
        self, client: Client, project: str, tasks: Sequence[OutsideTask]
    ) -> Collection[int]:
        """Delete tasks without an answer; return the numbers of those that stay."""
        numbers = {task.number: task.outside_id for task in tasks}
        if not all(numbers.values()):  # it is not known whether they arrived
            there = news.ids_by_number(client.list_tasks(project))
            numbers = {number: there.get(number, "") for number in numbers}
        ids = [int(pk) for pk in numbers.values() if pk]
        if not ids or client.delete_unanswered(project, ids) == len(ids):
            return ()
        rest = {str(task.get("id")) for task in client.list_tasks(project)}
        return [number for number, pk in numbers.items() if pk in rest]

    def write_back(self, link: RunConnection, how: str, workers: Sequence[str]) -> str:
        project = str(link.settings.get("project", ""))
        if not project:
            raise Refused("Enter the project of the gold questions in this run's settings first.")
        client = Client.of(link.connection)
        if how == "description":
            before = str(client.project(project).get("description") or "")
            client.change_project(project, {"description": _describe(before, link, workers)})
            return (
                f"{counted(len(workers), 'worker')} written into the description of "
                f"project {project}."
            )
        ids = places.accounts_of(link, workers, client)
        for user in ids:
            client.add_member(project, int(user))
        return f"{counted(len(ids), 'member')} added to project {project}."

    def perform(self, link: RunConnection, kind: str, data: Mapping[str, Any], again: bool) -> str:
        place = link.workers.exclude(place="").filter(worker=data["worker"]).first()
        if place is None:
            return "The project is gone."
        return places.open_project(link, place, Client.of(link.connection))

    # -- gold of watches

    def prepare_watch(self, link: WatchConnection) -> None:
        gold_project.prepare(link, Client.of(link.connection))

    def exchange_gold(self, link: WatchConnection) -> None:
        gold.exchange(link, Client.of(link.connection))

    def keep_pauses(self, link: WatchConnection) -> None:
        pauses.keep_pauses(link, Client.of(link.connection))

    # -- back

    def poll(self, link: RunConnection) -> Iterable[News]:
        client = Client.of(link.connection)
        for place in link.workers.exclude(place="").select_related("worker"):
            yield from news.poll_place(link, place, client)

    def authenticate(self, connection: Connection, message: Incoming) -> None:
        if not constant_time_compare(message.headers.get(HEADER, ""), connection.secret):
            raise NotAuthentic

    def receive(self, connection: Connection, message: Incoming) -> Iterable[News]:
        try:
            payload = parse_json(message.body)
        except ValueError as error:
            raise Refused("The message is not JSON.") from error
        return news.read_message(connection, payload)


def _describe(before: str, link: RunConnection, workers: Sequence[str]) -> str:
    """Put the selection into the description, in the place of an earlier one of any run."""
    head, _, rest = before.partition(BEGIN)
    tail = rest.partition(END)[2]
    day = db_clock.database_now().date().isoformat()
    text = f"{BEGIN} Selected by the run “{link.run}” on {day}: {', '.join(workers)} {END}"
    return "\n".join(filter(None, [head.rstrip(), text, tail.strip()]))


CONNECTOR = LabelStudio()

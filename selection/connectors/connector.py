"""The interface that every connector implements."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from selection.errors import Refused
from selection.imports.row_parsers import QuestionRow, WorkerRow
from selection.models import (
    Assignment,
    Connection,
    OutsideTask,
    RunConnection,
    WatchConnection,
    Worker,
)

from .faults import NotAuthentic


@dataclass(frozen=True)
class Setting:
    """A setting of a connection, or of its use by a run. Forms and API are built from it.

    kind     text, number, yes (or no), choice, or source: the id of one of ``list_sources``
    choices  value and label of each choice
    """

    name: str
    label: str
    default: Any = ""
    help: str = ""
    kind: Literal["text", "number", "yes", "choice", "source"] = "text"
    choices: tuple[tuple[str, str], ...] = ()
    required: bool = False


@dataclass(frozen=True)
class Secret:
    """A secret that a connection needs; stored encrypted, never shown again."""

    name: str
    label: str
    help: str = ""
    required: bool = True


@dataclass(frozen=True)
class Source:
    """A place on the other side to read from, for example a project."""

    id: str
    name: str


@dataclass(frozen=True)
class Fetched:
    """A file made of the other side's content, in a format that the imports read.

    people  number of people with answers in it
    """

    name: str
    content: bytes
    people: int


@dataclass(frozen=True)
class WorkerTasks:
    """Tasks of one worker to be sent.

    again  True if an earlier attempt may have arrived: look first
    """

    worker: Worker
    assignments: Sequence[Assignment]
    again: bool


@dataclass(frozen=True)
class OutsideAnswer:
    """An answer from the other side. Repeating it changes nothing.

    number      id of the assignment, as the task carries it
    response    None if the worker skipped the task: a refusal, not right
    annotators  names of the person there; empty: the task can only be the worker's own
    revision    value that grows with each edit, for example the time of the last one
    """

    link: RunConnection
    number: int
    response: str | None
    annotators: Sequence[str] = ()
    revision: str = ""


@dataclass(frozen=True)
class OutsideSubmission:
    """The state of a worker's stay on the other side.

    status  as the platform says it; ``runs.platform_submissions`` knows which ones mean *left*
    """

    link: RunConnection
    worker: str
    status: str
    outside_id: str = ""


@dataclass(frozen=True)
class LostTasks:
    """Tasks that were removed on the other side and are still wanted: they are sent again.

    numbers  ids of their assignments
    """

    link: RunConnection
    numbers: Sequence[int]
    problem: str = ""


News = OutsideAnswer | OutsideSubmission | LostTasks


@dataclass(frozen=True)
class Incoming:
    """A message to this server. headers: their names in lower case."""

    headers: Mapping[str, str]
    body: bytes


class Connector:
    """Base of connectors. A connector overrides what it can do; the rest refuses.

    Every method that calls the other side raises one of ``faults``, or Refused. It may be
    interrupted at any moment and is then repeated, so each call looks first whether an earlier
    one arrived. It takes at most a minute.

    name          stored with connections: it never changes
    label         name for people
    about         its use, in a sentence
    address       default address of its API; empty: the user must give one
    address_help  where the user finds the address
    secrets       secrets it needs, the first one for every call
    settings      settings of a connection; run_settings, watch_settings: of its use by one
    deals         True if assignments become tasks there
    write_backs   ways to write the selected workers back: value and label
    actions       further kinds of call, with their labels (``perform``)
    poll_seconds  time between polls of a run
    outlasts_run  True if calls and polls go on for a while after the run's end
    """

    name: ClassVar[str]
    label: ClassVar[str]
    about: ClassVar[str] = ""
    address: ClassVar[str] = ""
    address_help: ClassVar[str] = ""
    secrets: ClassVar[tuple[Secret, ...]] = ()
    settings: ClassVar[tuple[Setting, ...]] = ()
    run_settings: ClassVar[tuple[Setting, ...]] = ()
    watch_settings: ClassVar[tuple[Setting, ...]] = ()
    deals: ClassVar[bool] = False
    write_backs: ClassVar[tuple[tuple[str, str], ...]] = ()
    actions: ClassVar[Mapping[str, str]] = {}
    poll_seconds: ClassVar[float] = 15.0
    outlasts_run: ClassVar[bool] = False

    def can(self, method: str) -> bool:
        """Tell if the connector overrides this method."""
        return getattr(type(self), method) is not getattr(Connector, method)

    # -- in

    def check(self, connection: Connection) -> str:
        """Make a harmless call with the connection's secrets; return a sentence on the account."""
        raise self._refusal("be checked")

    def list_sources(self, connection: Connection) -> list[Source]:
        return []

    def read_gold(self, connection: Connection, source: str) -> list[QuestionRow]:
        """Read the questions of this place whose answers are known."""
        raise self._refusal("read gold questions")

    def read_workers(self, connection: Connection, source: str) -> list[WorkerRow]:
        """Read the people of this place, or of the account."""
        raise self._refusal("read workers")

    def read_past(self, connection: Connection, source: str) -> Fetched:
        """Read the past answers, as a file for ``imports``."""
        raise self._refusal("read past answers")

    # -- out

    def prepare(self, link: RunConnection) -> None:
        """Check the settings of a run's connection before it is stored. Raises Refused."""

    def send_assignments(self, link: RunConnection, tasks: WorkerTasks) -> Mapping[int, str]:
        """Create a task for each assignment; return their ids there by assignment's id.

        No task has the answer of its question.
        """
        raise self._refusal("take tasks")

    def remove_assignments(
        self, link: RunConnection, tasks: Sequence[OutsideTask]
    ) -> Collection[int]:
        """Remove these tasks; a task that is gone already is no fault.

        Return the numbers of those that were answered meanwhile: they stay, as work that was done.
        """
        raise self._refusal("remove tasks")

    def write_back(self, link: RunConnection, how: str, workers: Sequence[str]) -> str:
        """Write the selected workers back; return a sentence on the result.

        how  one of ``write_backs``
        """
        raise self._refusal("take the selection")

    def perform(self, link: RunConnection, kind: str, data: Mapping[str, Any], again: bool) -> str:
        """Make a call of a kind in ``actions``; return a sentence on the result.

        again  True if an earlier attempt may have arrived
        """
        raise self._refusal(kind)

    def plan(self, link: RunConnection) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """Plan the calls, kind and data, that the run's state asks for now.

        It is asked after every step and calls nobody; the same call is not queued twice.
        """
        return ()

    # -- gold of watches

    def prepare_watch(self, link: WatchConnection) -> None:
        """Check the settings of a watch's connection before it is stored. Raises Refused."""
        raise self._refusal("take gold questions of a watch")

    def exchange_gold(self, link: WatchConnection) -> None:
        """Take gold answers, and bring the gold tasks there up to date."""

    def keep_pauses(self, link: WatchConnection) -> None:
        """Pause the members of paused workers, and end our other pauses."""

    # -- back

    def poll(self, link: RunConnection) -> Iterable[News]:
        """Fetch what is new since the last poll, or everything: repeats change nothing."""
        return ()

    def authenticate(self, connection: Connection, message: Incoming) -> None:
        """Raise NotAuthentic unless the other side sent this message."""
        raise NotAuthentic

    def receive(self, connection: Connection, message: Incoming) -> Iterable[News]:
        """Read the news in a message of the other side."""
        raise self._refusal("send messages")

    def _refusal(self, action: str) -> Refused:
        return Refused(f"{self.label} cannot {action}.")

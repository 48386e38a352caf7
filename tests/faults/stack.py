"""The project's own parts under its own supervisor, each on links of its own."""

import configparser
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.processes import wait_until

from .links import Links, free_port
from .services import Disk, Service, postgres_server, redis_server, running

TOP = Path(__file__).parents[2]
MARK = "CROWDSELECT_FAULTS"  # in the environment of all processes of a stack: its folder
PARTS = {
    "web": "crowdselect.start.web_server",
    "worker": "crowdselect worker",
    "beat": "crowdselect beat",
}


@dataclass
class Stack:
    """
    folder    all that it writes; what its parts log is in ``said``
    web       the port on which the web listens
    url       where the crowd comes, by a link
    database  None with SQLite
    """

    folder: Path
    web: int
    url: str
    links: Links
    redis: Service
    disk: Disk
    database: Service | None

    @property
    def sqlite(self) -> bool:
        return self.database is None

    def masters(self, part: str) -> list[int]:
        """Of a part, what the supervisor started; what is left of one that died counts as such."""
        own = marked(self.folder, PARTS[part])
        return sorted(pid for pid, parent in own.items() if parent not in own)

    def children(self, part: str) -> list[int]:
        """Of a part, what its first process forked."""
        own = marked(self.folder, PARTS[part])
        return sorted(pid for pid, parent in own.items() if parent in own)

    def address(self, part: str, of: str) -> str:
        """Of database or redis, as this part knows it: by a link of its own."""
        direct = os.environ["REDIS_URL" if of == "redis" else "DATABASE_URL"]
        port = urlsplit(direct).port
        if port is None:
            return direct
        name = f"{part} to {of}"
        own = self.links.all[name].port if name in self.links.all else self.links.add(name, port)
        return direct.replace(f":{port}", f":{own}")


@contextmanager
def services(folder: Path) -> Iterator[Stack]:
    """What a stack stands on: links, Redis, the database of DATABASE_URL. The parts come later."""
    with ExitStack() as until_end:
        links = until_end.enter_context(Links())
        disk, port = Disk(folder / "disk"), urlsplit(os.environ["DATABASE_URL"]).port
        redis = redis_server(folder, urlsplit(os.environ["REDIS_URL"]).port or 0)
        until_end.enter_context(running(redis, signal.SIGTERM))
        database = None
        if port:
            database = postgres_server(disk.folder, port)
            until_end.enter_context(running(database, signal.SIGINT))
        web = free_port()
        url = f"http://127.0.0.1:{links.add('crowd to web', web)}"
        yield Stack(folder, web, url, links, redis, disk, database)


@contextmanager
def parts(stack: Stack) -> Iterator[None]:
    """All parts at work, under the supervisor that `make run` uses."""
    (stack.folder / "supervisord.conf").write_text(_configuration(stack))
    command = [sys.executable, "-m", "crowdselect.start.supervisor", "-c", "supervisord.conf"]
    environment = os.environ | {
        "PYTHON": shlex.quote(sys.executable),
        "VAR_DIR": str(stack.folder),
        "RUN_AS": str(os.getuid()),
        "EMBEDDED_REDIS": "false",
        "TELL": "info",
        "ADDRESS": f"127.0.0.1:{stack.web}",
        "HERE": f"http://127.0.0.1:{stack.web}",
        "PYTHONPATH": str(TOP),
    }
    with (stack.folder / "said").open("wb") as said:
        supervisor = subprocess.Popen(
            command, cwd=stack.folder, env=environment, stdout=said, stderr=subprocess.STDOUT
        )
        try:
            wait_until(lambda: answers(stack.url), "the web server", 120)
            yield
        finally:
            supervisor.terminate()
            with suppress(subprocess.TimeoutExpired):
                supervisor.wait(30)


def answers(url: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{url}/healthz", timeout=5).status_code == 200
    return False


def _configuration(stack: Stack) -> str:
    """The project's own, for these parts, each of which sees the others by its own links."""
    known = configparser.RawConfigParser()
    known.read(TOP / "supervisord.conf")
    for name in known.sections():
        part = name.removeprefix("program:")
        if part in PARTS:
            known[name]["directory"] = str(TOP)
            known[name]["environment"] = ",".join(
                f'{key}="{value}"' for key, value in _environment(stack, part).items()
            )
        elif part != "supervisord":
            known.remove_section(name)
    known["program:beat"]["command"] += " -s %(ENV_VAR_DIR)s/schedule"
    with (stack.folder / "draft").open("w+") as draft:
        known.write(draft)
        draft.seek(0)
        return draft.read()


def _environment(stack: Stack, part: str) -> dict[str, str]:
    own = {"DATABASE_URL": stack.address(part, "database")} if part != "beat" else {}
    own["REDIS_URL"] = stack.address(part, "redis")
    return own


# -- processes


def marked(folder: Path, word: str = "") -> dict[int, int]:
    """All processes of the stack in this folder whose command line has this word: their parents."""
    mark, found = f"{MARK}={folder}".encode(), {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            if mark not in (place / "environ").read_bytes().split(b"\0"):
                continue
            words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state, parent = (place / "stat").read_text().rpartition(")")[2].split()[:2]
            if word in words and state != "Z":
                found[int(place.name)] = int(parent)
    return found

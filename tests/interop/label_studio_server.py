"""A real Label Studio in a process of its own, and people that answer there by its API."""

import os
import random
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from tests.processes import free_port, wait_until

PROGRAM = Path("var/interop-ls/bin/label-studio").absolute()
TOKEN = "0123456789abcdef0123456789abcdef01234567"
PASSWORD = "a-good-password-1"
FIRST_START = 600  # seconds; it needs 140 on two idle cores


class LabelStudio:
    """The server; ``kill`` and ``start`` again keep its data."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> float:
        """Start it and wait until it answers; return the seconds that this took."""
        begun = time.monotonic()
        environment = os.environ | {
            "LABEL_STUDIO_BASE_DATA_DIR": str(self.folder),
            "SSRF_PROTECTION_ENABLED": "false",
            "USE_DEFAULT_BANNED_SUBNETS": "false",
            "LATEST_VERSION_CHECK": "false",
            "COLLECT_ANALYTICS": "false",
            "DJANGO_SETTINGS_MODULE": "core.settings.label_studio",
        }
        environment.pop("DATABASE_URL", None)
        arguments = ["start", "--no-browser", "--internal-host", "127.0.0.1"]
        arguments += ["--port", str(self.port), "--username", "admin@example.org"]
        arguments += ["--password", PASSWORD, "--user-token", TOKEN, "--enable-legacy-api-token"]
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, *arguments],
                env=environment,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_until(self.is_up, "Label Studio", FIRST_START)
        return time.monotonic() - begun

    def is_up(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log.txt").read_text()[-2000:]
        try:
            return self.client().get("/api/current-user/whoami").status_code == 200
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def client(self, token: str = TOKEN) -> httpx.Client:
        headers = {"Authorization": f"Token {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=20, trust_env=False)

    def sign_up(self, email: str) -> str:
        """Return the token of a new person after accepting an invitation."""
        invite = self.client().get("/api/invite").json()["invite_url"]
        with httpx.Client(base_url=self.url, timeout=30, trust_env=False) as browser:
            page = browser.get(invite)
            found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
            assert found, page.text[:500]
            form = {"csrfmiddlewaretoken": found[1], "email": email, "password": PASSWORD}
            browser.post(invite, data=form | {"allow_newsletters": "false"})
            token: str = browser.get("/api/current-user/token").json()["token"]
            return token


@contextmanager
def label_studio(folder: Path) -> Iterator[LabelStudio]:
    server = LabelStudio(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


class Annotator(threading.Thread):
    """A person that answers the tasks in the projects with their name, until told to stop.

    respond  returns the choice for the prompt of a task, None to skip it
    seconds  mean time for an answer
    made     the time of each answer that Label Studio took, by assignment; no skipped task
    """

    def __init__(
        self,
        studio: LabelStudio,
        name: str,
        token: str,
        respond: Callable[[str], str | None],
        seconds: float = 5.0,
    ) -> None:
        super().__init__(daemon=True)
        self.studio, self.key, self.token = studio, name, token
        self.respond, self.seconds, self.rng = respond, seconds, random.Random(name)
        self.stopped = threading.Event()
        self.project: int | None = None
        self.made: dict[int, datetime] = {}

    def run(self) -> None:
        with self.studio.client(self.token) as client:
            while not self.stopped.is_set():
                try:
                    if not self._answer_next(client):
                        self.stopped.wait(2.0)
                except (httpx.HTTPError, ValueError, KeyError):
                    self.stopped.wait(1.0)  # Label Studio is away

    def _answer_next(self, client: httpx.Client) -> bool:
        """Answer a task of the latest project; look for another project if it has none."""
        if self.project is not None:
            reply = client.get(f"/api/projects/{self.project}/next")
            if reply.status_code == 200:
                self._answer(client, reply.json())
                return True
        query = {"title": f"{self.key}:", "include": "id,task_number"}
        rows = client.get("/api/projects/", params=query).json()["results"]
        numbers = [row["id"] for row in rows if row["task_number"]]
        self.project = max(numbers, default=None)
        return False

    def _answer(self, client: httpx.Client, task: dict[str, Any]) -> None:
        self.stopped.wait(self.rng.expovariate(1 / self.seconds))
        choice = self.respond(task["data"]["prompt"])
        path = f"/api/tasks/{task['id']}/annotations/"
        if choice is None:
            client.post(path, params={"was_cancelled": 1}, json={"result": []})
        else:
            value = {"choices": [choice]}
            result = {"from_name": "answer", "to_name": "prompt", "type": "choices", "value": value}
            reply = client.post(path, json={"result": [result]})
            if reply.status_code == 201:
                created = datetime.fromisoformat(reply.json()["created_at"])
                self.made[int(task["data"]["crowdselect"])] = created

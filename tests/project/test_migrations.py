"""Migrations leave the version before at work: CONTRIBUTING.md, Rules for migrations."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.core.management import CommandError, call_command
from django.db import connection, migrations, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.fields import NOT_PROVIDED

from selection.management.commands import migrate
from selection.management.commands.migrate import RecordingExecutor
from selection.models import Team

RELEASED = "0001_initial"  # of 0.5.0, the first version
LARGE = {"assignment", "answer", "auditentry"}
OURS = "LIKE 'selection\\_%%' ESCAPE '\\'"
SCHEMA = {
    "sqlite": [f"SELECT type, name, sql FROM sqlite_master WHERE tbl_name {OURS}"],
    "postgresql": [
        "SELECT table_name, column_name, udt_name, character_maximum_length, "
        "numeric_precision, numeric_scale, column_default, is_nullable, identity_generation "
        f"FROM information_schema.columns WHERE table_name {OURS}",
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
        f"WHERE conrelid::regclass::text {OURS}",
        f"SELECT indexname, indexdef FROM pg_indexes WHERE tablename {OURS}",
        "SELECT tgname, pg_get_triggerdef(oid), tgenabled FROM pg_trigger "
        f"WHERE NOT tgisinternal AND tgrelid::regclass::text {OURS}",
        "SELECT attrelid::regclass::text, attname, attstorage FROM pg_attribute "
        f"WHERE attnum > 0 AND NOT attisdropped AND attrelid::regclass::text {OURS}",
        f"SELECT proname, prosrc FROM pg_proc WHERE proname {OURS}",
    ],
}


def harm(operation: Operation) -> str:
    """The harm to present users; empty if there is none."""
    match operation:
        case migrations.AddField(field=field) if not (
            field.null or field.many_to_many or field.db_default is not NOT_PROVIDED
        ):
            return f"adds {operation.name} without a default in the database"
        case migrations.RenameField() | migrations.RenameModel() | migrations.AlterModelTable():
            return "renames what the version before uses"
        case AddIndexConcurrently():
            return ""
        case migrations.AddIndex(model_name=name) if name.lower() in LARGE:
            return f"locks {name} while it makes an index"
    return ""


def ours() -> Iterator[tuple[str, migrations.Migration]]:
    for (app, name), migration in MigrationLoader(None).disk_migrations.items():
        if app == "selection" and name > RELEASED:
            yield name, migration


def changes_database(migration: migrations.Migration) -> bool:
    """Return True if it runs a statement; models may be renamed if tables and columns are not."""
    lines = MigrationLoader(connection, replace_migrations=False).collect_sql([(migration, False)])
    return any(line not in ("BEGIN;", "COMMIT;") and not line.startswith("--") for line in lines)


def read_schema() -> list[list[str]]:
    """Return all that our tables consist of; SQLite's definitions in parts, in any order."""
    rows = []
    with connection.cursor() as cursor:
        for sql in SCHEMA[connection.vendor]:
            cursor.execute(sql, ())
            rows += [list(map(str, row)) for row in cursor.fetchall()]
    if connection.vendor == "sqlite":
        rows = [
            [*names, *sorted(re.split(r', (?=["C])|[(](?=")|[)]$', sql))] for *names, sql in rows
        ]
    return sorted(rows)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_tables_made_at_once_are_those_of_the_migrations(monkeypatch):
    schemas = []
    for executor in (MigrationExecutor, RecordingExecutor):
        call_command("migrate", "selection", "zero", verbosity=0)
        assert not [row for row in read_schema() if row[1].startswith("selection_")]
        monkeypatch.setattr(migrate, "RecordingExecutor", executor)
        call_command("migrate", verbosity=0)
        assert Team.objects.get().name == "First team"
        schemas.append(read_schema())
    assert schemas[0] == schemas[1]


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["migrate", "launch"])
def test_database_of_another_version_is_refused_in_one_sentence(command):
    MigrationRecorder(connection).record_applied("selection", "0060_forecast_quality")
    with pytest.raises(CommandError, match=r"another version .* \(migration 0060_forecast_quality"):
        call_command(command)


@pytest.mark.django_db(transaction=True)
def test_the_version_before_goes_on_while_they_run():
    assert not {
        (name, words)
        for name, each in ours()
        for one in each.operations
        if (words := harm(one)) and changes_database(each)
    }


@pytest.mark.any_database
@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("candidate", "task", models.CharField(default="")),
        migrations.RenameField("candidate", "task", "job"),
        migrations.RenameModel("Candidate", "Person"),
        migrations.AlterModelTable("candidate", "people"),
        migrations.AddIndex("Answer", models.Index(fields=["at"], name="answer_at")),
    ],
)
def test_harmful_operation_is_reported(operation):
    assert harm(operation)


@pytest.mark.any_database
@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("candidate", "task", models.CharField(db_default="")),
        migrations.AddField("candidate", "task", models.IntegerField(null=True)),
        AddIndexConcurrently("Answer", models.Index(fields=["at"], name="answer_at")),
        migrations.AddIndex("Pool", models.Index(fields=["name"], name="pool_name")),
    ],
)
def test_harmless_operation_is_not_reported(operation):
    assert not harm(operation)

"""Migrations leave the version before at work: docs/operations.md, Rules for migrations."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.core.management import call_command
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models.fields import NOT_PROVIDED

from selection.management.commands.migrate import ReplacedMigrations
from selection.models import Team

SINCE = "0023"  # the rules are younger than those before
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
        if app == "selection" and name >= SINCE:
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
def test_squashed_migration_creates_the_same_tables_as_those_that_it_replaces():
    ((_, last),) = ReplacedMigrations(None).graph.leaf_nodes("selection")
    schemas = []
    for target in ([last], []):  # without a name by the squashed one
        call_command("migrate", "selection", "zero", verbosity=0)
        assert not [row for row in read_schema() if row[1].startswith("selection_")]
        call_command("migrate", "selection", *target, verbosity=0)
        assert Team.objects.get().name == "First team"
        schemas.append(read_schema())
    assert schemas[0] == schemas[1]


def test_squashed_migration_leads_to_the_same_models():
    squashed = MigrationLoader(None)
    (squash,) = [one for (app, _), one in squashed.replacements.items() if app == "selection"]
    states = [
        loader.project_state([(squash.app_label, name)])
        for loader, name in (
            (squashed, squash.name),
            (ReplacedMigrations(None), squash.replaces[-1][1]),
        )
    ]
    ours = [
        {key: one for key, one in state.models.items() if key[0] == "selection"} for state in states
    ]
    assert ours[0] == ours[1]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_version_before_goes_on_while_they_run():
    found = {
        (name, words)
        for name, each in ours()
        for one in each.operations
        if (words := harm(one)) and changes_database(each)
    }
    assert not found


@pytest.mark.django_db(transaction=True)
def test_new_names_of_models_leave_the_database_alone():
    changes = {name: changes_database(migration) for name, migration in ours()}
    assert not changes["0026_plain_names"]
    assert changes["0025_drop_audit_chain"]


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

"""Migrations leave the version before at work: docs/operations.md, Rules for migrations."""

from collections.abc import Iterator

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models.fields import NOT_PROVIDED

SINCE = "0023"  # the rules are younger than those before
LARGE = {"assignment", "answer", "auditentry"}


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

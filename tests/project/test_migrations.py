"""Migrations leave the version before at work: docs/operations.md, Rules for migrations."""

from collections.abc import Iterator

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models.fields import NOT_PROVIDED

SINCE = "0023"  # the rules are younger than those before
LARGE = {"assignment", "answer", "auditentry"}


def harm(operation: Operation) -> str:
    """What it does to those who are at work; empty where nothing."""
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


def test_the_version_before_goes_on_while_they_run():
    found = {
        (name, words) for name, each in ours() for one in each.operations if (words := harm(one))
    }
    assert not found


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
def test_it_would_be_told(operation):
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
def test_what_does_no_harm_is_not(operation):
    assert not harm(operation)

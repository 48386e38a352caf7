"""A step reads the candidates that changed: the others are packed in one row of the run.

The triggers are created after the migrations, by ``restore_triggers``.
"""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from selection.models.candidate_arrays import drop_triggers


def forward(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Store the arrays as they are: compressing them takes longer than writing them."""
    if editor.connection.vendor == "postgresql":
        editor.execute(
            "ALTER TABLE selection_candidatearrays ALTER COLUMN content SET STORAGE EXTERNAL"
        )


def backward(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    drop_triggers(editor.connection)


class Migration(migrations.Migration):
    dependencies = [("selection", "0046_taken_part")]

    operations = [
        migrations.CreateModel(
            name="CandidateArrays",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="selection.run",
                    ),
                ),
                ("step", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="CandidateChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "candidate",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="selection.candidate",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="selection.run",
                    ),
                ),
            ],
        ),
        migrations.RunPython(forward, backward),
    ]

"""Give models and fields the words of the glossary; tables and columns keep their names.

The version before goes on while this is applied: nothing changes in the database.
"""

import django.db.models.deletion
from django.db import migrations, models

MODELS = {
    "Pulse": "Heartbeat",
    "Creation": "IdempotencyKey",
    "Outlook": "RunForecast",
    "Planning": "ForecastRequest",
    "PlanningPart": "ForecastPart",
    "Complaint": "QuestionReport",
}


def rename_model(old: str, new: str) -> list[migrations.operations.base.Operation]:
    return [
        migrations.AlterModelTable(old, f"selection_{old.lower()}"),
        migrations.RenameModel(old, new),
    ]


def rename_field(
    model: str, old: str, new: str, field: models.Field
) -> list[migrations.operations.base.Operation]:
    return [
        migrations.AlterField(model, old, field),
        migrations.RenameField(model, old, new),
    ]


class Migration(migrations.Migration):
    dependencies = [("selection", "0025_drop_audit_chain")]

    operations = [
        *(operation for names in MODELS.items() for operation in rename_model(*names)),
        migrations.AlterField(
            "QuestionReport",
            "assignment",
            models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                primary_key=True,
                related_name="report",
                serialize=False,
                to="selection.assignment",
            ),
        ),
        *rename_field(
            "Run",
            "called",
            "absence_since",
            models.DateTimeField(db_column="called", editable=False, null=True),
        ),
        *rename_field(
            "Run",
            "told",
            "alerts_sent",
            models.JSONField(db_column="told", default=list, editable=False),
        ),
        *rename_field(
            "Run",
            "links",
            "link_version",
            models.PositiveSmallIntegerField(db_column="links", default=0, editable=False),
        ),
        *rename_field(
            "Candidate",
            "links",
            "link_version",
            models.PositiveSmallIntegerField(db_column="links", default=0),
        ),
        *rename_field(
            "Upload",
            "fine",
            "accepted_rows",
            models.PositiveIntegerField(db_column="fine", default=0),
        ),
    ]

"""The evaluation that a run of models was made for, so that repeating the command finds it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("selection", "0039_structured_replies")]
    operations = [
        migrations.AddField(
            "modelspending",
            "inputs",
            models.CharField(
                blank=True, db_default="", default="", editable=False, max_length=64
            ),
        )
    ]

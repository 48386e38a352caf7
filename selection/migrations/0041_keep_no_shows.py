"""Workers of whom no answer counted: out of the pool at the end of a run, or in it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("selection", "0040_evaluation_inputs")]

    operations = [
        migrations.AddField(
            "run",
            "keep_no_shows",
            models.BooleanField(
                "no-shows stay in the pool at the end",
                default=False,
                db_default=False,
                help_text="The guarantee covers workers with a counted answer, or no-shows as well. "
                "Decide before you see answers.",
            ),
        ),
    ]

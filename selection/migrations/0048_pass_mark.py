"""A run may select only workers who are shown to reach a mark."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("selection", "0047_candidate_arrays")]

    operations = [
        migrations.AddField(
            "run",
            "pass_mark",
            models.FloatField(
                blank=True,
                help_text="Select only workers who are shown to answer at least this share right: "
                "0.8 is 80 percent. Fewer than K may be selected. Leave blank for no mark.",
                null=True,
            ),
        ),
    ]

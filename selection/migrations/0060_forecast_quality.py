"""A forecast of a running run says how good the selected would be."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("selection", "0058_practice_in_watches")]

    operations = [
        migrations.AddField("runforecast", "accuracy", models.FloatField(null=True)),
        migrations.AddField("runforecast", "mean_at_least", models.FloatField(null=True)),
        migrations.AddField("runforecast", "passing", models.PositiveIntegerField(null=True)),
    ]

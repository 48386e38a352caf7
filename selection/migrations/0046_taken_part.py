"""A forecast's part is taken by the process that works on it: the newest forecast comes first."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("selection", "0043_marks")]

    operations = [
        migrations.AddField("forecastpart", "taken", models.DateTimeField(null=True)),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("selection", "0038_reply_results"),
    ]

    operations = [
        migrations.AlterField(
            model_name="endpoint",
            name="structured",
            field=models.BooleanField(default=True),
        ),
    ]

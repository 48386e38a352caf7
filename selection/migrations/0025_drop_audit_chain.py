from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("selection", "0024_arrival")]

    operations = [
        migrations.RemoveField("auditentry", "number"),
        migrations.RemoveField("auditentry", "digest"),
        migrations.RemoveField("auditentry", "salt"),
    ]

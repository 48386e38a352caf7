"""Call the model RecordedAnswer; its table keeps the name it has, so nothing moves."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("selection", "0004_pause_and_progress")]

    operations = [
        migrations.AlterModelTable("recorded", "selection_recorded"),
        migrations.RenameModel("Recorded", "RecordedAnswer"),
    ]

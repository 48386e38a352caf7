import secrets

from django.db import migrations, models


def salt():
    """Was selection.models.audit.salt, until 0025 dropped the column."""
    return secrets.token_hex(16)


class Migration(migrations.Migration):

    dependencies = [
        ('selection', '0022_pulses'),
    ]

    operations = [
        # Older entries were chained without a salt: a default that is drawn would be told as a change.
        migrations.AddField(
            model_name='auditentry',
            name='salt',
            field=models.CharField(blank=True, default='', max_length=32),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='salt',
            field=models.CharField(blank=True, default=salt, max_length=32),
        ),
        migrations.AddField(
            model_name='worker',
            name='erased',
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('selection', '0023_sealed'),
    ]

    operations = [
        migrations.AddField(
            model_name='candidate',
            name='platform',
            field=models.CharField(blank=True, choices=[('mturk', 'Amazon Mechanical Turk'), ('prolific', 'Prolific')], db_default='', default='', max_length=10),
        ),
        migrations.AddField(
            model_name='candidate',
            name='task',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
    ]

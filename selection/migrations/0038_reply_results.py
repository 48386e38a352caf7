from django.db import migrations, models
from django.db.models import Case, Q, Value, When


def fill_results(apps, schema_editor):
    calls = apps.get_model("selection", "ModelCall").objects
    calls.filter(state__in=("replied", "reused")).update(
        result=Case(
            When(~Q(answer=""), then=Value("read")),
            When(problem__startswith="The reply was cut off", then=Value("cut off")),
            When(problem__startswith="The server's content filter", then=Value("refused")),
            When(reply="", then=Value("empty")),
            default=Value("unreadable"),
        )
    )


class Migration(migrations.Migration):

    dependencies = [
        ("selection", "0037_jobs"),
    ]

    operations = [
        migrations.AddField(
            model_name="modelcall",
            name="result",
            field=models.CharField(
                blank=True,
                choices=[
                    ("read", "read"),
                    ("empty", "empty"),
                    ("cut off", "cut off"),
                    ("refused", "refused"),
                    ("unreadable", "not readable"),
                ],
                db_default="",
                default="",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="candidate",
            name="unreadable",
            field=models.CharField(
                blank=True,
                choices=[("asking", "to be decided"), ("wrong", "count as wrong")],
                db_default="",
                default="",
                max_length=6,
            ),
        ),
        migrations.RunPython(fill_results, migrations.RunPython.noop, elidable=True),
    ]

"""Each message has its team: one about a watch has no run."""

from django.db import migrations
from django.db.models import OuterRef, Subquery


def add_teams(apps, schema_editor):
    Mail, Run = (apps.get_model("selection", name) for name in ("Mail", "Run"))
    team = Run.objects.filter(pk=OuterRef("run")).values("team")
    Mail.objects.filter(team=None).update(team=Subquery(team))


def drop_watch_mails(apps, schema_editor):
    apps.get_model("selection", "Mail").objects.filter(run=None).delete()


class Migration(migrations.Migration):
    dependencies = [("selection", "0050_watches")]
    operations = [migrations.RunPython(add_teams, drop_watch_mails)]

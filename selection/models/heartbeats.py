"""Heartbeats: the last sign of life of each part of the system."""

from datetime import datetime

from django.db import models
from django.db.models import Exists, OuterRef, Q


class HeartbeatQuerySet(models.QuerySet["Heartbeat"]):
    def last_seen(self, name: str) -> datetime | None:
        return self.filter(pk=name).values_list("at", flat=True).first()

    def time_taken(self, now: datetime) -> datetime:
        return min(now, self.last_seen(Heartbeat.WEB) or now)


class Heartbeat(models.Model):
    """A heartbeat.

    name  web: a web process was able to write to the database; sweep: a whole sweep was done, so
          that beat, the broker and a Celery worker are all at work
    """

    WEB = "web"
    SWEEP = "sweep"

    name = models.CharField(max_length=10, primary_key=True)
    at = models.DateTimeField()

    objects = HeartbeatQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "system"

    def __str__(self) -> str:
        return self.name


def is_past_due(now: datetime) -> Q:
    """Match rows that became due while the web was able to take answers.

    The last heartbeat is read in the same statement: deadlines change only with it.
    """
    beat_before_due = Heartbeat.objects.filter(pk=Heartbeat.WEB, at__lte=OuterRef("due"))
    return Q(~Exists(beat_before_due), due__lt=now)

"""Work that somebody waits for: files, replays, and requests to other machines."""

import uuid
from typing import Any

from django.db import models

from .teams import Team


class Job(models.Model):
    """Work that is requested, performed in the background, polled, and deleted when it expires.

    kind     name of its function: see ``jobs.perform``
    subject  id of the row that it is about
    name     for people, for example of a file
    wanted   the function's arguments; secrets in them are encrypted
    by       the requester: a login name, or "token NAME" for a program
    content  large input, which pages and programs do not read
    result   of the function, or of its turns so far
    progress share that is done
    resumes  True if it is done in turns: an interrupted one goes on
    error    reason of a failure, in one sentence; field: the field concerned; status: of HTTP
    sent     time of the latest message to Celery, and then of the turn's beginning: a process whose
             turn began at another time stores nothing
    """

    class State(models.TextChoices):
        ASKING = "asking", "waits for a person"
        WAITING = "waiting", "waits for a worker process"
        WORKING = "working", "is being done"
        DONE = "done", "is done"
        CANCELLED = "cancelled", "was cancelled"
        FAILED = "failed", "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    subject = models.PositiveBigIntegerField(default=0)
    name = models.CharField(max_length=200, blank=True)
    wanted = models.JSONField(default=dict)
    by = models.CharField(max_length=150, blank=True)
    content = models.BinaryField(default=b"")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    result = models.JSONField(null=True)
    progress = models.FloatField(default=0)
    resumes = models.BooleanField(default=False)
    error = models.TextField(blank=True)
    field = models.CharField(max_length=100, blank=True)
    status = models.PositiveSmallIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)
    sent = models.DateTimeField(null=True)
    expires = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["created"]

    def __str__(self) -> str:
        return self.name or f"{self.kind} {self.pk}"

    @property
    def going(self) -> bool:
        return self.state in (self.State.WAITING, self.State.WORKING)


class JobsOfKind(models.Manager[Any]):
    """The jobs of the kind of a proxy of Job."""

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(kind=self.model.KIND)

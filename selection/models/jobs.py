"""Work that somebody waits for: files, replays, and requests to other machines."""

import uuid
from typing import Any

from django.db import models

from .keys import NameField
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
        TAKEN = "taken", "its result was taken"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    subject = models.PositiveBigIntegerField(default=0)
    name = NameField(max_length=200, blank=True)
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
        indexes = [models.Index(fields=["kind", "subject"], name="job_by_subject")]

    def __str__(self) -> str:
        return self.name or f"{self.kind} {self.pk}"

    @property
    def going(self) -> bool:
        return self.state in (self.State.WAITING, self.State.WORKING)


class JobsOfKind(models.Manager[Any]):
    """The jobs of the kinds of a proxy of Job."""

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(kind__in=self.model.KINDS)


class Kept:
    """A value of a proxy of Job, which is in one of its JSON columns."""

    def __init__(self, column: str, default: Any) -> None:
        self.column, self.default = column, default

    def __set_name__(self, owner: type[Job], name: str) -> None:
        self.name = name

    def __get__(self, job: Job | None, owner: type[Job]) -> Any:
        return (getattr(job, self.column, None) or {}).get(self.name, self.default)

    def __set__(self, job: Job, value: Any) -> None:
        setattr(job, self.column, (getattr(job, self.column) or {}) | {self.name: value})

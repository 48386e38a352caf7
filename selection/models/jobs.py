"""Requests to other machines, made in the background for a waiting page."""

import uuid

from django.db import models

from .teams import Team


class Job(models.Model):
    """A request to another machine: made in the background, while a page polls.

    kind    name of its function: see ``jobs.perform``
    subject id of the row that it is about
    wanted  the function's arguments; secrets in them are encrypted
    by      the requester: a login name, or "token NAME" for a program
    result  of the function
    error   reason of a failure, in one sentence; field: the field concerned; status: of HTTP
    sent    time of the latest message to Celery, and then of the beginning
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waits for a worker process"
        WORKING = "working", "is being done"
        DONE = "done", "is done"
        FAILED = "failed", "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    subject = models.PositiveBigIntegerField(default=0)
    wanted = models.JSONField(default=dict)
    by = models.CharField(max_length=150, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    result = models.JSONField(null=True)
    error = models.TextField(blank=True)
    field = models.CharField(max_length=100, blank=True)
    status = models.PositiveSmallIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)
    sent = models.DateTimeField(null=True)

    class Meta:
        ordering = ["created"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def going(self) -> bool:
        return self.state in (self.State.WAITING, self.State.WORKING)

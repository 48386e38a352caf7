"""Gold questions of watches in the tools where people work."""

from typing import Any

from django.db import models
from django.db.models import Q

from .connectors import PROBLEM_LENGTH, Connection, OutsideTask
from .questions import Question
from .watches import Watch, WatchedWorker

State = OutsideTask.State


class WatchConnection(models.Model):
    """The use of a connection by a watch: it puts gold questions among the tasks there.

    settings  the connector's settings for this watch
    memory    the connector's own notes; its ``notes`` are sentences for people
    on        False if the watch uses it no more: open gold tasks are removed there
    problem   the last fault that concerns this watch, and its remedy
    polled    time of the last poll
    joined    gold tasks made since then count for the rate
    """

    watch = models.ForeignKey(Watch, models.CASCADE, related_name="connections")
    connection = models.ForeignKey(Connection, models.PROTECT, related_name="watches")
    settings = models.JSONField(default=dict, blank=True)
    memory = models.JSONField(default=dict, blank=True)
    on = models.BooleanField(default=True)
    problem = models.CharField(max_length=PROBLEM_LENGTH, blank=True, default="")
    polled = models.DateTimeField(null=True)
    joined = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["watch", "connection"], name="connection_once_in_watch")
        ]

    def __str__(self) -> str:
        return f"{self.watch} at {self.connection}"

    def remember(self, **notes: Any) -> None:
        """Add to the connector's notes; one exchange at a time writes them."""
        self.memory = {**self.memory, **notes}
        WatchConnection.objects.filter(pk=self.pk).update(memory=self.memory)


class WatchedMember(models.Model):
    """A watched worker, as the other side knows them.

    watched     None after they were removed from the watch
    outside_id  their id there
    place       the place of their tasks, for example a project
    alone       True if the place has no other worker
    """

    class Pause(models.TextChoices):
        NONE = "", "not paused"
        PAUSED = "paused", "paused there"
        REFUSED = "refused", "to be paused by hand"

    link = models.ForeignKey(
        WatchConnection, models.CASCADE, related_name="members", db_index=False
    )
    watched = models.ForeignKey(WatchedWorker, models.SET_NULL, null=True, related_name="+")
    outside_id = models.CharField(max_length=200)
    place = models.CharField(max_length=200)
    alone = models.BooleanField(default=False)
    pause = models.CharField(max_length=7, choices=Pause, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["link", "watched"], name="member_once_in_link")
        ]

    def __str__(self) -> str:
        return f"{self.watched} at {self.link}"


class GoldTask(models.Model):
    """A gold question as a task on the other side.

    watched     its worker; None: all workers of its place
    place       where it lies, for example a project
    outside_id  the task's id there; empty until it is known
    tried       time of the last attempt to create it
    """

    link = models.ForeignKey(
        WatchConnection, models.CASCADE, related_name="gold_tasks", db_index=False
    )
    watched = models.ForeignKey(
        WatchedWorker, models.SET_NULL, null=True, related_name="gold_tasks"
    )
    question = models.ForeignKey(Question, models.CASCADE, related_name="gold_tasks")
    place = models.CharField(max_length=200)
    outside_id = models.CharField(max_length=200, blank=True, default="")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    made = models.DateTimeField()
    tried = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["link", "watched", "question"],
                name="gold_task_once_for_worker",
                condition=~Q(state="removed"),
            )
        ]
        indexes = [
            models.Index(fields=["link", "state"], name="gold_task_state"),
            models.Index(fields=["link", "outside_id"], name="gold_task_outside"),
        ]

    def __str__(self) -> str:
        return f"task {self.outside_id or self.pk} of {self.link}"

"""Connections to annotation tools and marketplaces, and the work that lies there."""

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.crypto import salted_hmac

from selection import db_clock

from .answers import Assignment, Candidate
from .keys import NameField
from .pools import Worker
from .runs import Run
from .teams import NamedInTeam, Team, default_team, unique_name
from .webhooks import OutboxEntry, fresh_salt

PROBLEM_LENGTH = 500  # characters kept of a fault


class Connection(NamedInTeam):
    """An account of a team in an annotation tool or marketplace.

    kind         name of its connector (``connectors.registry``)
    address      base address of its API
    secrets_encrypted  its tokens, encrypted; in no page, reply, log, dump or export
    settings     the connector's own settings of it
    salt         source of the secret of incoming messages, together with SECRET_KEY
    paused       True if nothing is sent and nothing is fetched
    checked      time of the last successful reply
    problem      the last fault and its remedy; empty after a successful reply
    rests_until  time before which nothing is sent, because of the fault
    failures     consecutive faults
    """

    team = models.ForeignKey(
        Team, models.PROTECT, default=default_team, related_name="connections", db_index=False
    )
    kind = models.CharField(max_length=40, editable=False)
    name = NameField(max_length=100)
    address = models.CharField(max_length=500, blank=True, default="")
    secrets_encrypted = models.TextField(blank=True, default="", editable=False)
    settings = models.JSONField(default=dict, blank=True)
    salt = models.CharField(max_length=32, default=fresh_salt, editable=False)
    paused = models.BooleanField(default=False)
    checked = models.DateTimeField(null=True, editable=False)
    problem = models.CharField(max_length=PROBLEM_LENGTH, blank=True, default="", editable=False)
    rests_until = models.DateTimeField(null=True, editable=False)
    failures = models.PositiveIntegerField(default=0, editable=False)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [unique_name("connection")]

    def __str__(self) -> str:
        return self.name

    @property
    def secret(self) -> str:
        return salted_hmac("selection.connection", self.salt, algorithm="sha256").hexdigest()

    @property
    def state(self) -> str:
        if self.paused:
            return "paused"
        return "failing" if self.problem else "working"


class RunConnection(models.Model):
    """The use of a connection by a run.

    settings  the connector's settings for this run
    memory    the connector's own notes, for example the ids of what it created
    on        False if the run uses it no more: what lies there is removed
    problem   the last fault that concerns this run, and its remedy
    polled    time of the last poll
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="connections")
    connection = models.ForeignKey(Connection, models.PROTECT, related_name="runs")
    settings = models.JSONField(default=dict, blank=True)
    memory = models.JSONField(default=dict, blank=True)
    on = models.BooleanField(default=True)
    problem = models.CharField(max_length=PROBLEM_LENGTH, blank=True, default="")
    polled = models.DateTimeField(null=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "connection"], name="connection_once_in_run")
        ]

    def __str__(self) -> str:
        return f"{self.run} at {self.connection}"

    def remember(self, **notes: Any) -> None:
        """Add to the connector's notes. Its calls are made one after another, so none is lost."""
        self.memory = {**self.memory, **notes}
        RunConnection.objects.filter(pk=self.pk).update(memory=self.memory)


class OutsideWorker(models.Model):
    """A worker of a run, as the other side knows them.

    outside_id  their id there, for example of a submission
    place       the place of their tasks, for example a project
    notes       the connector's own notes
    """

    link = models.ForeignKey(RunConnection, models.CASCADE, related_name="workers", db_index=False)
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="+")
    outside_id = models.CharField(max_length=200, blank=True, default="")
    place = models.CharField(max_length=200, blank=True, default="")
    notes = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["link", "worker"], name="worker_once_in_link")
        ]
        indexes = [models.Index(fields=["link", "place"], name="outside_place")]

    def __str__(self) -> str:
        return f"{self.worker} at {self.link}"


class OutsideTaskQuerySet(models.QuerySet["OutsideTask"]):
    def present(self) -> "OutsideTaskQuerySet":
        """Filter tasks that lie there, or are on their way."""
        return self.filter(state__in=(OutsideTask.State.WAITING, OutsideTask.State.SENT))


class OutsideTask(models.Model):
    """An assignment of a run, as a task on the other side.

    number      the assignment's id, which the task carries; kept after its withdrawal
    assignment  None after the assignment was withdrawn
    outside_id  the task's id there; empty until it is there
    revision    of the last answer taken from there, so that an older one never replaces it
    made, sent, ended  times of the decision to send it, of its arrival there, and of its end
    """

    class State(models.TextChoices):
        WAITING = "waiting", "to be sent"
        SENT = "sent", "there"
        LEAVING = "leaving", "to be removed"
        REMOVED = "removed", "removed"
        ANSWERED = "answered", "answered"
        REFUSED = "refused", "refused"

    link = models.ForeignKey(RunConnection, models.CASCADE, related_name="tasks", db_index=False)
    candidate = models.ForeignKey(Candidate, models.CASCADE, related_name="outside_tasks")
    assignment = models.OneToOneField(
        Assignment, models.SET_NULL, null=True, related_name="outside_task"
    )
    number = models.BigIntegerField()
    outside_id = models.CharField(max_length=200, blank=True, default="")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    revision = models.CharField(max_length=40, blank=True, default="")
    made = models.DateTimeField()
    sent = models.DateTimeField(null=True)
    ended = models.DateTimeField(null=True)

    objects = OutsideTaskQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["link", "number"], name="task_once_in_link")]
        indexes = [models.Index(fields=["link", "state"], name="outside_state")]

    def __str__(self) -> str:
        return f"task {self.outside_id or self.number} of {self.candidate}"


class CallQuerySet(models.QuerySet["ConnectorCall"]):
    def pending(self) -> "CallQuerySet":
        return self.filter(due__isnull=False)

    def ready(self) -> "CallQuerySet":
        """Filter the calls that are due, of connections that neither pause nor rest."""
        now = db_clock.database_now()
        awake = Q(connection__rests_until=None) | Q(connection__rests_until__lte=now)
        return self.filter(awake, connection__paused=False, due__lte=now)


class ConnectorCall(OutboxEntry):
    """A call of a connection, in its order: the first pending one is made first.

    link  the run's connection; None for a call that concerns no run
    """

    connection = models.ForeignKey(Connection, models.CASCADE, related_name="calls", db_index=False)
    link = models.ForeignKey(RunConnection, models.CASCADE, null=True, related_name="calls")

    objects = CallQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["connection", "id"], name="connector_call_log"),
            models.Index(
                fields=["connection", "id"], name="connector_call_due", condition=~Q(due=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at {self.connection}"

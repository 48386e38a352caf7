"""Forecasts that were asked for, and what was simulated of them so far."""

from django.db import models
from django.db.models import Q

from .teams import Team, default_team


class Planning(models.Model):
    """One forecast: what was asked, and how far it is. The numbers are read by ``forecast.orders``.

    key     of the team and all that the numbers depend on: who of it asks the same again gets the
            same row
    wanted  the plan, as numbers
    belief  what is believed of the workers, as numbers
    by      who asked first: a login name, or "token NAME" for a program
    used    when it was last asked for or looked at; old ones are swept
    error   why it failed, in one sentence
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waits for a worker process"
        WORKING = "working", "is being refined"
        DONE = "done", "is done"
        CANCELLED = "cancelled", "was cancelled"
        FAILED = "failed", "failed"

    team = models.ForeignKey(Team, models.CASCADE, default=default_team, related_name="+")
    key = models.CharField(max_length=64, unique=True)
    wanted = models.JSONField()
    belief = models.JSONField()
    by = models.CharField(max_length=150, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    error = models.CharField(max_length=300, blank=True)
    created = models.DateTimeField(auto_now_add=True)
    used = models.DateTimeField()

    class Meta:
        ordering = ["-used", "-id"]

    def __str__(self) -> str:
        return f"forecast {self.pk}"

    @property
    def going(self) -> bool:
        """Whether more is to come."""
        return self.state in (self.State.WAITING, self.State.WORKING)


class PlanningPart(models.Model):
    """One algorithm on one plan: what is simulated of it by one process at a time.

    number   in the forecast, in the order in which they are begun
    curve    "" for a row of the table; else what is varied: "epsilon" or "k"
    at       the value of what is varied; 0 for a row
    plays    the simulated runs: a list of (answers, most of one worker, ending, epsilon, loss)
    runs     how many they are; whoever adds to them must have seen all of them
    need     how many answers one worker would have to give: (most, whether it then ended)
    seconds  of processor time it took
    sent     when its next piece of work was last handed out
    """

    planning = models.ForeignKey(Planning, models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    curve = models.CharField(max_length=10, blank=True)
    at = models.FloatField(default=0)
    algorithm = models.CharField(max_length=50)
    options = models.JSONField(default=dict)
    plays = models.JSONField(default=list)
    runs = models.PositiveIntegerField(default=0)
    need = models.JSONField(null=True)
    seconds = models.FloatField(default=0)
    finished = models.BooleanField(default=False)
    sent = models.DateTimeField(null=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["planning", "number"], name="planning_part_once")
        ]
        indexes = [
            models.Index(fields=["sent"], condition=Q(finished=False), name="planning_part_to_do")
        ]

    def __str__(self) -> str:
        return f"{self.algorithm} of {self.planning}"

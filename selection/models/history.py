"""The history of a run: the engine's steps, and changes made by people."""

from django.db import models

from .runs import Run


class Event(models.Model):
    """A change of a run.

    who   the requester's login name, "token NAME" for a program, "command NAME" for the command
          line, with the login of the machine, "" for the run itself
    kind  kind of change in the code: start, budget, withdraw, regrade, …
    what  the change and its effect on the guarantee, in words
    why   the reason
    step  the run's last step before it
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="events")
    at = models.DateTimeField()
    who = models.CharField(max_length=150, blank=True)
    kind = models.CharField(max_length=20)
    what = models.TextField()
    why = models.CharField(max_length=300, blank=True)
    step = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.run}"


class Step(models.Model):
    """A step of the engine, and the state of the run after it."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="history", db_index=False)
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    applied = models.PositiveIntegerField()
    dealt = models.PositiveIntegerField()
    accepted = models.PositiveIntegerField()
    rejected = models.PositiveIntegerField()
    gap = models.FloatField()
    wanted = models.FloatField()
    closed = models.FloatField(default=0)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="step_once")]

    def __str__(self) -> str:
        return f"step {self.number} of {self.run}"

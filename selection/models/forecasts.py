"""Requested forecasts with their simulations, and the latest forecast of each running run."""

from django.db import models
from django.db.models import Q

from .runs import Run
from .teams import Team, default_team

LEAST_RUNS_FOR_BAND = 20  # least number of simulated runs for a band


class ForecastRequest(models.Model):
    """A forecast: the request and its progress. ``forecast_requests`` reads the numbers.

    key     of the team and all that the numbers depend on: the same request of a team gets the same
            row
    wanted  the plan, as numbers
    belief  the belief about the workers, as numbers
    by      the first requester: a login name, or "token NAME" for a program
    used    last request or view; old ones are swept
    error   reason of the failure, in one sentence
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
        return self.state in (self.State.WAITING, self.State.WORKING)


class ForecastPart(models.Model):
    """An algorithm on a plan: its simulations, made by one process at a time.

    number   in the forecast, in the order of their first simulation
    curve    "" for a row of the table; else the varied quantity: "epsilon" or "k"
    at       the value of the varied quantity; 0 for a row
    plays    the simulated runs: a list of (answers, most of one worker, ending, epsilon, loss)
    runs     their number; a process that adds to them must have read all of them
    need     number of answers one worker would have to give: (most, True if it then ended)
    seconds  of processor time it took
    sent     time of handing out its latest piece of work, and then of its beginning
    taken    time of the beginning; None while the piece waits for a process
    """

    planning = models.ForeignKey(ForecastRequest, models.CASCADE, related_name="parts")
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
    taken = models.DateTimeField(null=True)

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


class RunForecast(models.Model):
    """The forecast of a run from its present state, updated now and then and read by every page.

    at       time of the simulation, and ``seconds`` it took
    step     the run's last step then
    counted  answers that counted by then; 0 runs with a ``why``: there is no forecast yet
    low, median, high  answers counted at the end in all: four runs of five lie between; the same
             number three times if it has no band
    runs     simulated from there; 0 if the end was known without
    kept     share of them that reach the algorithm's own end
    epsilon  median guarantee of those that are cut short; None if there is none
    most     median number of questions answered by the worker asked most
    uniform  loss of the best K by their share of right answers, exceeded with probability delta at
             most, if every worker answers ``most`` questions; None if it is not comparable
    accuracy, mean_at_least, passing  of the selected, as in the forecast of a draft; None if the
             end was not simulated, nobody is selected, or there is no pass mark
    why      reason for having no forecast; else empty
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="outlook")
    at = models.DateTimeField()
    seconds = models.FloatField(default=0)
    step = models.PositiveIntegerField(default=0)
    counted = models.PositiveIntegerField(default=0)
    low = models.PositiveIntegerField(default=0)
    median = models.PositiveIntegerField(default=0)
    high = models.PositiveIntegerField(default=0)
    runs = models.PositiveIntegerField(default=0)
    kept = models.FloatField(default=0)
    epsilon = models.FloatField(null=True)
    most = models.PositiveIntegerField(default=0)
    uniform = models.FloatField(null=True)
    accuracy = models.FloatField(null=True)
    mean_at_least = models.FloatField(null=True)
    passing = models.PositiveIntegerField(null=True)
    why = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"forecast of {self.run}"

    @property
    def has_band(self) -> bool:
        """Tell if enough runs were simulated for a band; none are if the end is known."""
        return self.runs == 0 or self.runs >= LEAST_RUNS_FOR_BAND

    def is_outlived(self, closed: int) -> bool:
        """Tell if more assignments are closed than were likely in all: it says no more."""
        return closed >= self.median > 0

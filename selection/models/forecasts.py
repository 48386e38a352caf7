"""Requested forecasts with their simulations, and the latest forecast of each running run."""

from dataclasses import dataclass
from typing import Annotated

from django.db import models

from .jobs import Job, JobsOfKind
from .runs import Run

LEAST_RUNS_FOR_BAND = 20  # least number of simulated runs for a band


@dataclass(frozen=True, kw_only=True)
class ForecastFigures:
    """Figures of a forecast, from simulated runs."""

    answers: Annotated[
        tuple[int, int, int] | None,
        "Answers to come: low, median, high. Four simulated runs of five are between low and "
        "high. null: fewer than 20 runs are simulated yet.",
    ] = None
    median: Annotated[
        int | None, "Median of the answers, also of fewer than 20 runs. null: no simulation."
    ] = None
    cost: Annotated[
        tuple[float, float, float] | None, "As `answers`, in money; null without a price."
    ] = None
    epsilon_at_end: Annotated[
        float | None, "Median ε achieved by the runs that end early; null: no run ends early."
    ] = None
    accuracy: Annotated[
        float | None, "Mean accuracy of the selected, median of the runs; null if none is selected."
    ] = None
    mean_at_least: Annotated[
        float | None, "Mean accuracy that the run would state at its end, median of the runs."
    ] = None
    passing: Annotated[
        int | None, "Number of the selected at the pass mark, median; null without a mark."
    ] = None
    runs: Annotated[int, "Simulated runs."] = 0
    finished: Annotated[int, "Number of simulated runs that finish."] = 0


class ForecastRequest(Job):
    """A forecast, a job that is refined in turns. ``forecast_requests`` reads the numbers.

    id      made of the team and all that the numbers depend on: the same request of a team gets the
            same row
    wanted  the plan and the belief about the workers, as numbers
    result  the parts (forecast.parts), as numbers
    """

    KINDS = ("forecast",)
    objects = JobsOfKind()  # type: ignore[misc]

    class Meta:
        proxy = True


class RunForecast(models.Model):
    """The forecast of a run from its present state, updated now and then and read by every page.

    at       time of the simulation, and ``seconds`` it took
    step     the run's last step then
    counted  answers that counted by then; 0 runs with a ``why``: there is no forecast yet
    low, median, high  answers counted at the end in all: four runs of five lie between; the same
             number three times if it has no band
    runs     simulated from there; 0 if the end was known without
    finished number of them that reach the algorithm's own end
    most     median number of questions answered by the worker asked most
    uniform  loss of the best K by their share of right answers, exceeded with probability delta at
             most, if every worker answers ``most`` questions; None if it is not comparable
    epsilon_at_end, accuracy, mean_at_least, passing  as in ForecastFigures
    why      reason for having no forecast; else empty
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="forecast")
    at = models.DateTimeField()
    seconds = models.FloatField(default=0)
    step = models.PositiveIntegerField(default=0)
    counted = models.PositiveIntegerField(default=0)
    low = models.PositiveIntegerField(default=0)
    median = models.PositiveIntegerField(default=0)
    high = models.PositiveIntegerField(default=0)
    runs = models.PositiveIntegerField(default=0)
    finished = models.PositiveIntegerField(default=0)
    epsilon_at_end = models.FloatField(null=True)
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

"""What a run that is going on will still take, as it was last simulated."""

from django.db import models

from .runs import Run

MANY = 20  # simulated runs, without which no band is shown


class Outlook(models.Model):
    """The forecast of one run from where it stood, made now and then and read by every page.

    at       when it was made, and how long making it took
    step     the run's last step then
    counted  answers that counted by then; 0 runs with a ``why``: nothing can be said yet
    low, median, high  answers counted at the end in all: four runs of five lie between; the same
             number three times where it has no band
    runs     simulated from there; 0 where it was known without
    kept     share of them that come to the end that the algorithm has
    epsilon  what is promised in the middle of those that are cut short; None if none was
    most     questions answered by the worker asked most, in the middle of the runs
    uniform  how far off the best K by their share of right answers may be, with probability
             1 - delta, if everybody answers ``most`` questions; None where it is not comparable
    why      why nothing can be said; empty if something can
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
    why = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"outlook of {self.run}"

    @property
    def has_band(self) -> bool:
        """Whether enough runs were simulated for a band; none are where the end is known."""
        return self.runs == 0 or self.runs >= MANY

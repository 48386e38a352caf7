"""The workers of a run, what each was asked, and what came back."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from topk import Verdict

from .crowd import Worker
from .questions import Question
from .runs import Run


class Candidate(models.Model):
    """A worker in a skill of a run.

    ``arm`` is its number in the run: skill by skill, and within a skill dealt at random, because
    ties are broken by it.

    asked    assignments handed out
    pulls    answers counted: always those of positions 0 to pulls - 1
    rewards  how many of these were right
    """

    class Verdicts(models.IntegerChoices):
        REJECTED = Verdict.REJECTED.value, "rejected"
        UNDECIDED = Verdict.UNDECIDED.value, "undecided"
        ACCEPTED = Verdict.ACCEPTED.value, "accepted"

    run = models.ForeignKey(Run, models.CASCADE, related_name="candidates", db_index=False)
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="candidates")
    skill = models.PositiveSmallIntegerField(default=0)
    arm = models.PositiveIntegerField()
    asked = models.PositiveIntegerField(default=0)
    pulls = models.PositiveIntegerField(default=0)
    rewards = models.FloatField(default=0)
    verdict = models.SmallIntegerField(choices=Verdicts, default=Verdicts.UNDECIDED)
    decided_in = models.PositiveIntegerField("decided in step", null=True)
    decided_why = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["arm"]
        constraints = [
            models.UniqueConstraint(fields=["run", "arm"], name="arm_once_in_run"),
            models.UniqueConstraint(fields=["run", "worker", "skill"], name="worker_once_in_skill"),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.run}"


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def open(self) -> "AssignmentQuerySet":
        """Without an answer. Positions below ``pulls`` are closed, so few rows are looked at."""
        return self.filter(position__gte=F("candidate__pulls"), answer=None)

    def answerable(self) -> "AssignmentQuerySet":
        """Open and in time. Nobody's time runs while the run is paused."""
        in_time = Q(due__gt=timezone.now()) | Q(candidate__run__status=Run.Status.PAUSED)
        return self.open().filter(in_time)


class Assignment(models.Model):
    """One question handed to one worker. It is open until it has an Answer."""

    candidate = models.ForeignKey(
        Candidate, models.CASCADE, related_name="assignments", db_index=False
    )
    position = models.PositiveIntegerField()
    question = models.ForeignKey(Question, models.PROTECT, related_name="+", db_index=False)
    step = models.PositiveIntegerField("dealt in step")
    due = models.DateTimeField()

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["candidate", "position"]
        constraints = [
            models.UniqueConstraint(fields=["candidate", "position"], name="position_once"),
            models.UniqueConstraint(fields=["candidate", "question"], name="question_once"),
        ]

    def __str__(self) -> str:
        return f"{self.candidate}: {self.question}"


class Answer(models.Model):
    """What closed an assignment: a response, or that time was up. Not right if it was.

    applied_in  number of the Step that counted it; null until then, so this is queue and audit
    """

    assignment = models.OneToOneField(Assignment, models.CASCADE, primary_key=True)
    run = models.ForeignKey(Run, models.CASCADE, related_name="answers", db_index=False)
    response = models.TextField(blank=True)
    right = models.BooleanField()
    expired = models.BooleanField(default=False)
    at = models.DateTimeField()
    applied_in = models.PositiveIntegerField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["run"], name="answer_to_apply", condition=Q(applied_in=None)),
        ]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.response}"


class RecordedAnswer(models.Model):
    """An answer made elsewhere that waits until the algorithm asks for it."""

    candidate = models.ForeignKey(
        Candidate, models.CASCADE, related_name="recorded", db_index=False
    )
    question = models.ForeignKey(Question, models.PROTECT, related_name="+", db_index=False)
    response = models.TextField()

    class Meta:
        db_table = "selection_recorded"  # the name that it has always had
        constraints = [
            models.UniqueConstraint(fields=["candidate", "question"], name="recorded_once"),
        ]

    def __str__(self) -> str:
        return f"{self.candidate}: {self.question}"

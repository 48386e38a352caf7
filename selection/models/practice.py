"""Practice questions and problem reports: the parts of a worker's page besides gold questions.

They never count.
"""

from django.db import models

from .answers import Assignment, Candidate
from .questions import Gradable, QuestionSet
from .watches import WatchedWorker


class Practice(Gradable):
    """A question to learn by, asked before the first gold question; its answer is shown.

    explanation  shown once it is answered
    required     True if it must be answered right before the worker goes on
    """

    question_set = models.ForeignKey(QuestionSet, models.CASCADE, related_name="practice")
    number = models.PositiveIntegerField(
        default=0, help_text="Position among the practice questions."
    )
    explanation = models.TextField(blank=True, help_text="Shown after the answer.")
    required = models.BooleanField(
        default=False, help_text="Workers must answer it correctly before the test."
    )

    class Meta:
        ordering = ["number", "id"]
        verbose_name = "practice question"

    def __str__(self) -> str:
        return self.prompt[:60]


class PracticeAnswer(models.Model):
    """A worker's answer to a practice question in a run; ``tries`` counts the wrong ones.

    watched  the worker in a watch, without a candidate: it came before the latest test
    done     True if the worker may go on to the next question
    """

    candidate = models.ForeignKey(Candidate, models.CASCADE, null=True, related_name="practised")
    watched = models.ForeignKey(
        WatchedWorker, models.CASCADE, null=True, related_name="practised", db_index=False
    )
    practice = models.ForeignKey(Practice, models.CASCADE, related_name="answers", db_index=False)
    response = models.TextField()
    right = models.BooleanField()
    done = models.BooleanField()
    tries = models.PositiveSmallIntegerField(default=0)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["candidate", "practice"], name="practised_once"),
            models.UniqueConstraint(fields=["watched", "practice"], name="practised_in_watch_once"),
        ]

    def __str__(self) -> str:
        return f"{self.candidate or self.watched}: {self.practice}"


class QuestionReport(models.Model):
    """A worker's problem report about a question. ``heard``: acknowledged by the requester."""

    assignment = models.OneToOneField(
        Assignment, models.CASCADE, primary_key=True, related_name="report"
    )
    text = models.TextField()
    at = models.DateTimeField()
    heard = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.text[:60]}"

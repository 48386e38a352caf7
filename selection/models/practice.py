"""What a worker meets on the page besides gold questions: practice, and a way to say what is wrong.

Nothing of it is ever counted.
"""

from django.db import models

from .answers import Assignment, Candidate
from .gradable import Gradable
from .questions import QuestionSet


class Practice(Gradable):
    """A question to learn by, asked before the first gold question; its answer is told.

    explanation  shown once it is answered
    must         whether nobody goes on before it is answered right
    """

    question_set = models.ForeignKey(QuestionSet, models.CASCADE, related_name="practice")
    number = models.PositiveIntegerField(default=0, help_text="They are asked in this order.")
    explanation = models.TextField(blank=True, help_text="Shown when it has been answered.")
    must = models.BooleanField(
        "must be right",
        default=False,
        help_text="Nobody is tested before they have answered this one right.",
    )

    class Meta:
        ordering = ["number", "id"]
        verbose_name = "practice question"

    def __str__(self) -> str:
        return self.prompt[:60]


class PracticeAnswer(models.Model):
    """What a worker made of a practice question in a run; ``tries`` counts the wrong ones.

    done  whether they may go on from it
    """

    candidate = models.ForeignKey(Candidate, models.CASCADE, related_name="practised")
    practice = models.ForeignKey(Practice, models.CASCADE, related_name="answers", db_index=False)
    response = models.TextField()
    right = models.BooleanField()
    done = models.BooleanField()
    tries = models.PositiveSmallIntegerField(default=0)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["candidate", "practice"], name="practised_once"),
        ]

    def __str__(self) -> str:
        return f"{self.candidate}: {self.practice}"


class Complaint(models.Model):
    """A worker says that a question is broken. ``heard`` is when the requester had seen to it."""

    assignment = models.OneToOneField(Assignment, models.CASCADE, primary_key=True)
    text = models.TextField()
    at = models.DateTimeField()
    heard = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.text[:60]}"

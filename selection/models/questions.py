"""What they are tested on: sets of gold questions."""

from django.db import models

from . import grading as gradings
from .teams import NamedInTeam, Team, default_team, named_once


class QuestionSet(NamedInTeam):
    """Gold questions: questions whose answers are known."""

    team = models.ForeignKey(
        Team, models.PROTECT, default=default_team, related_name="question_sets", db_index=False
    )
    name = models.CharField(max_length=200)
    instructions = models.TextField(blank=True, help_text="Shown to workers above every question.")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [named_once("question_set")]

    def __str__(self) -> str:
        return self.name

    def count_askable(self) -> int:
        """How many of its questions are not retired."""
        return self.questions.filter(retired=None).count()


class Question(models.Model):
    """A gold question. ``number`` counts from 0 within the set; a deck deals numbers.

    grading  how responses are compared with the accepted answers, where not as plain text
    retired  when it was found to be no good: nobody is asked it any more, and it does not count
    """

    question_set = models.ForeignKey(QuestionSet, models.CASCADE, related_name="questions")
    number = models.PositiveIntegerField()
    key = models.CharField("question", max_length=200)
    prompt = models.TextField()
    accepted = models.JSONField("accepted answers", default=list)
    choices = models.JSONField(default=list, blank=True)
    grading = models.JSONField(default=dict, blank=True)
    retired = models.DateTimeField(null=True, editable=False)
    retired_why = models.CharField(max_length=300, blank=True, default="", editable=False)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["question_set", "number"], name="question_number_once"),
            models.UniqueConstraint(fields=["question_set", "key"], name="question_once_in_set"),
        ]

    def __str__(self) -> str:
        return self.key

    def grade(self, response: str) -> bool:
        """Whether this is an accepted answer, by the question's own way of comparing."""
        return gradings.matches(self.accepted, response, self.grading)

    def allows(self, response: str) -> bool:
        """Whether this could be an answer: with choices, whether it is of them."""
        return gradings.allowed(self.choices, response, self.grading)

    @property
    def kind(self) -> str:
        """What a worker does with it: one of grading.KINDS."""
        return gradings.kind_of(self.choices, self.grading)

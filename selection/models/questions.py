"""Sets of gold questions."""

from collections.abc import Sequence
from typing import Any

from django.core.validators import MinValueValidator
from django.db import models

from selection.grading import rules

from .keys import KeyField, NameField
from .teams import NamedInTeam, Team, default_team, unique_name


class QuestionSet(NamedInTeam):
    """Gold questions: questions with known answers.

    tries  number of wrong answers allowed to a practice question that must be right
    """

    team = models.ForeignKey(
        Team, models.PROTECT, default=default_team, related_name="question_sets", db_index=False
    )
    name = NameField(max_length=200)
    instructions = models.TextField(blank=True, help_text="Shown to workers above every question.")
    markdown = models.BooleanField(
        "use Markdown",
        default=True,
        help_text="**bold**, lists, links and tables. When off, text is shown exactly as typed. "
        "Images, audio and video are shown either way.",
    )
    tries = models.PositiveSmallIntegerField(
        "attempts allowed in practice",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Workers who fail a required practice question this many times are excluded. "
        "Leave blank for unlimited attempts.",
    )
    most_workers = models.PositiveIntegerField(
        "max. workers per question",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Retires a question after this many workers have seen it in all runs, because "
        "answers may leak. Leave blank for no limit.",
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [unique_name("question_set")]

    def __str__(self) -> str:
        return self.name


class Gradable(models.Model):
    """A question with ``accepted`` answers, ``choices``, and ``grading`` options.

    Without options, responses are compared as plain text (``grading.rules``).
    """

    prompt = models.TextField()
    accepted = models.JSONField("accepted answers", default=list)
    choices = models.JSONField(default=list, blank=True)
    grading = models.JSONField(default=dict, blank=True)

    class Meta:
        abstract = True

    def grade(self, response: str) -> bool:
        """Tell if this is an accepted answer by the question's grading options."""
        return rules.is_match(self.accepted, response, self.grading, self.choices)

    def allows(self, response: str) -> bool:
        """Tell if this could be an answer: one of the choices, if there are any."""
        return rules.is_possible_answer(self.choices, response, self.grading)

    @property
    def kind(self) -> str:
        return rules.kind_of(self.choices, self.grading)


class Question(Gradable):
    """A gold question. ``number`` counts from 0 within the set; a deck deals numbers.

    columns  of its file that have no meaning of their own: a model's template may name them
    history  messages of a conversation, with the prompt as the last one; of an evaluation only
    retired  time of its retirement as faulty: it is asked no more, and it does not count
    """

    question_set = models.ForeignKey(QuestionSet, models.CASCADE, related_name="questions")
    number = models.PositiveIntegerField()
    key = KeyField("question", max_length=200)
    columns = models.JSONField(default=dict, blank=True, editable=False)
    retired = models.DateTimeField(null=True, editable=False)
    retired_why = models.CharField(max_length=300, blank=True, default="", editable=False)
    history: Sequence[Any] = ()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["question_set", "number"], name="question_number_once"),
            models.UniqueConstraint(fields=["question_set", "key"], name="question_once_in_set"),
        ]

    def __str__(self) -> str:
        return self.key

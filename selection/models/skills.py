"""The further skills of a run."""

from django.db import models

from .questions import QuestionSet


class Skill(models.Model):
    """A question set of a run, with a K of its own, if a run covers several on one budget.

    Only the further ones are stored, numbered from 1: number 0 is the run's own question set and K.
    """

    run = models.ForeignKey("selection.Run", models.CASCADE, related_name="further")
    number = models.PositiveSmallIntegerField(default=0, editable=False)
    question_set = models.ForeignKey(QuestionSet, models.PROTECT, related_name="skills")
    k = models.PositiveIntegerField("K", help_text="How many workers to select in this skill.")
    deck_size = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="skill_number_once_in_run"),
            models.UniqueConstraint(
                fields=["run", "question_set"], name="question_set_once_in_run"
            ),
        ]

    def __str__(self) -> str:
        return str(self.question_set)

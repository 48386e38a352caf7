"""What gold and practice questions have in common: a text, an answer, and a way of comparing."""

from django.db import models

from selection.grading import rules


class Gradable(models.Model):
    """accepted answers, ``choices`` to choose from, and ``grading``: how responses are compared
    with these, where not as plain text (grading.py)."""

    prompt = models.TextField()
    accepted = models.JSONField("accepted answers", default=list)
    choices = models.JSONField(default=list, blank=True)
    grading = models.JSONField(default=dict, blank=True)

    class Meta:
        abstract = True

    def grade(self, response: str) -> bool:
        """Whether this is an accepted answer, by the question's own way of comparing."""
        return rules.is_match(self.accepted, response, self.grading)

    def allows(self, response: str) -> bool:
        """Whether this could be an answer: with choices, whether it is of them."""
        return rules.is_possible_answer(self.choices, response, self.grading)

    @property
    def kind(self) -> str:
        """What a worker does with it: one of grading.KINDS."""
        return rules.kind_of(self.choices, self.grading)

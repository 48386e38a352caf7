"""Common part of gold and practice questions: a text, an answer, and grading options."""

from django.db import models

from selection.grading import rules


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
        """Return True if this is an accepted answer by the question's grading options."""
        return rules.is_match(self.accepted, response, self.grading)

    def allows(self, response: str) -> bool:
        """Return True if this could be an answer: one of the choices, if there are any."""
        return rules.is_possible_answer(self.choices, response, self.grading)

    @property
    def kind(self) -> str:
        """Return the kind of question, one of rules.KINDS."""
        return rules.kind_of(self.choices, self.grading)

"""Pictures, sounds and films that questions show."""

import secrets

from django.db import models

from .questions import QuestionSet


def new_token() -> str:
    return secrets.token_urlsafe(24)


class MediaFile(models.Model):
    """A file that a question set's texts name as ``media:NAME``, kept whole.

    Its token opens it without a login, so the token cannot be guessed.

    type  of its content, as recognised from its first bytes: image/png, audio/mpeg
    size  in bytes
    """

    question_set = models.ForeignKey(
        QuestionSet, models.CASCADE, related_name="media", db_index=False
    )
    token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)
    name = models.CharField(max_length=100)
    type = models.CharField(max_length=20)
    size = models.PositiveIntegerField()
    data = models.BinaryField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["question_set", "name"], name="media_once_in_set")
        ]

    def __str__(self) -> str:
        return self.name

"""Files that wait between their preview and the requester's word to take them."""

import uuid

from django.db import models

from .teams import Team


class Upload(models.Model):
    """A file between its preview and the requester's word to take it."""

    class Kind(models.TextChoices):
        WORKERS = "workers"
        QUESTIONS = "questions"
        ANSWERS = "answers"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=Kind)
    target = models.PositiveBigIntegerField()
    name = models.CharField(max_length=200)
    text = models.TextField()
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

"""What the edges keep between two requests: files that wait for a word, keys to the API."""

import hashlib
import secrets
import uuid

from django.db import models


class Upload(models.Model):
    """A file between its preview and the requester's word to take it."""

    class Kind(models.TextChoices):
        WORKERS = "workers"
        QUESTIONS = "questions"
        ANSWERS = "answers"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    kind = models.CharField(max_length=10, choices=Kind)
    target = models.PositiveBigIntegerField()
    name = models.CharField(max_length=200)
    text = models.TextField()
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class ApiToken(models.Model):
    """A key to the API. Only its digest is kept."""

    name = models.CharField(max_length=100, unique=True)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "API token"

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def digest_of(secret: str) -> str:
        return hashlib.sha256(secret.encode()).hexdigest()

    @classmethod
    def issue(cls, name: str) -> str:
        """Make a token of this name, in place of an earlier one, and return its secret once."""
        secret = secrets.token_urlsafe(32)
        cls.objects.update_or_create(name=name, defaults={"digest": cls.digest_of(secret)})
        return secret

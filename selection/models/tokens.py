"""Keys to the API."""

import hashlib
import secrets

from django.db import models


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
        # A prefix, because what begins with a dash is taken for an option on a command line.
        secret = f"cs_{secrets.token_urlsafe(32)}"
        cls.objects.update_or_create(name=name, defaults={"digest": cls.digest_of(secret)})
        return secret

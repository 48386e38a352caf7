"""API tokens."""

import hashlib
import secrets
from datetime import datetime
from typing import Any

from django.db import models
from django.utils import timezone

from .keys import NameField
from .teams import NamedInTeam, Team, default_team, unique_name

PREFIX_LENGTH = 9  # characters of a secret kept to recognise it: "cs_" and six of 43


class ApiToken(NamedInTeam):
    """A token for the API of one team; its secret is kept as a digest and its first characters.

    used     last use, to the minute
    revoked  time of its revocation: it opens nothing from then on
    by       its maker
    """

    class Scope(models.TextChoices):
        READ = "read", "read: view everything, change nothing"
        ANSWER = "answer", "answer: fetch open questions and send answers only"
        MANAGE = "manage", "manage: full access to the API"

    team = models.ForeignKey(
        Team, models.CASCADE, default=default_team, related_name="tokens", db_index=False
    )
    name = NameField(max_length=100)
    scope = models.CharField("may", max_length=10, choices=Scope, default=Scope.MANAGE)
    expires = models.DateTimeField(
        null=True, blank=True, help_text="Leave blank for a token that never expires."
    )
    prefix = models.CharField(max_length=PREFIX_LENGTH, blank=True, default="", editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    by = models.CharField(max_length=150, blank=True, default="", editable=False)
    used = models.DateTimeField("last used", null=True, editable=False)
    revoked = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["name"]
        verbose_name = "API token"
        constraints = [unique_name("token")]

    def __str__(self) -> str:
        return self.name

    def good(self, now: datetime | None = None) -> bool:
        at = now or timezone.now()
        return self.revoked is None and (self.expires is None or self.expires > at)

    @staticmethod
    def digest_of(secret: str) -> str:
        return hashlib.sha256(secret.encode(errors="replace")).hexdigest()

    @classmethod
    def issue(cls, name: str, team: Team | None = None, **fields: Any) -> str:
        """Make a token of this name, replacing the team's earlier one; return its secret, once.

        team    else the first team
        fields  scope, expires, by
        """
        # A prefix, because a leading dash would make it an option on a command line.
        secret = f"cs_{secrets.token_urlsafe(32)}"
        fresh = {
            "prefix": secret[:PREFIX_LENGTH],
            "digest": cls.digest_of(secret),
            "scope": cls.Scope.MANAGE,
            "expires": None,
            "used": None,
            "revoked": None,
        }
        cls.objects.update_or_create(
            team_id=team.pk if team else default_team(), name=name, defaults=fresh | fields
        )
        return secret


class IdempotencyKey(models.Model):
    """An object created through the API, so that the same request creates no second one.

    key     the program's name for its request: its header Idempotency-Key
    digest  of the request's method, address and body
    reply   the response sent
    """

    token = models.ForeignKey(ApiToken, models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    reply = models.JSONField(null=True)
    created = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "key"], name="creation_key_once")]

    def __str__(self) -> str:
        return self.key

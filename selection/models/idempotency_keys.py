"""Idempotency keys of programs, with the replies to repeat."""

from django.db import models

from .tokens import ApiToken


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
        db_table = "selection_creation"
        constraints = [models.UniqueConstraint(fields=["token", "key"], name="creation_key_once")]

    def __str__(self) -> str:
        return self.key

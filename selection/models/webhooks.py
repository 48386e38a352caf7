"""Webhooks of a team, and the messages on their way to them."""

import base64
import secrets
import uuid
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.crypto import salted_hmac

from selection import db_clock

from .teams import Team, default_team

REPLY_LENGTH = 500  # characters kept of a receiver's answer


def fresh_salt() -> str:
    return secrets.token_hex(16)


class Webhook(models.Model):
    """An address that receives the events of a team's runs and watches.

    events  the subscribed kinds of message
    salt    source of its secret, together with this server's SECRET_KEY: read access to the
            database alone is not enough to sign in this server's name
    note    reason for turning itself off, if it did
    """

    class Event(models.TextChoices):
        ACCEPTED = "worker.accepted", "a worker is accepted"
        REJECTED = "worker.rejected", "a worker is rejected"
        OPENED = "assignment.opened", "a worker has new questions to answer"
        ATTENTION = "run.needs_attention", "a run needs attention"
        ENDED = "run.ended", "a run has ended"
        ALARM = "watch.alarm", "a watched worker has fallen"
        PAUSED = "watch.paused", "a watched worker is paused, or goes on"
        TESTED = "watch.tested", "a watched worker is tested again, passes or fails"

    TEST = "webhook.test"  # sent on demand

    team = models.ForeignKey(Team, models.CASCADE, default=default_team, related_name="webhooks")
    url = models.CharField("address", max_length=500)
    events = models.JSONField(default=list)
    enabled = models.BooleanField(default=True)
    salt = models.CharField(max_length=32, default=fresh_salt, editable=False)
    note = models.CharField(max_length=300, blank=True, default="", editable=False)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.url

    @property
    def secret(self) -> str:
        """Read the key that signs its messages, in the notation of Standard Webhooks."""
        key = salted_hmac("selection.webhook", self.salt, algorithm="sha256").digest()
        return f"whsec_{base64.b64encode(key).decode()}"

    def wants(self, kind: str) -> bool:
        return kind == self.TEST or kind in self.events


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def ready(self) -> "DeliveryQuerySet":
        """Filter the deliveries that are due. While a webhook is off only tests are sent."""
        going = Q(webhook__enabled=True) | Q(kind=Webhook.TEST)
        return self.filter(going, due__lte=db_clock.database_now())


class OutboxEntry(models.Model):
    """A message or call of an outbox: to be sent while ``due`` is set, then its record.

    message  its id, the same for all attempts
    body     its content, as JSON
    due      time of the next attempt; None once it has arrived or was given up: this is the queue
    tries    attempts since it was made, or since a user had it sent again
    code     the HTTP status of the last answer; None if there was none
    said     the start of that answer, or the reason for having none
    """

    message = models.UUIDField(default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40)
    body = models.TextField()
    made = models.DateTimeField(db_index=True)
    due = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    tried = models.DateTimeField(null=True)
    code = models.PositiveSmallIntegerField(null=True)
    said = models.CharField(max_length=REPLY_LENGTH, blank=True, default="")
    delivered = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def state(self) -> str:
        if self.due is not None:
            return "waiting" if self.tries == 0 else "retrying"
        return "delivered" if self.delivered else "failed"

    def keep(self, **changes: Any) -> None:
        for name, value in changes.items():
            setattr(self, name, value)
        type(self)._default_manager.filter(pk=self.pk).update(**changes)


class Delivery(OutboxEntry):
    """A message to a webhook; its body is signed and sent as it is."""

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["webhook", "due"], name="delivery_to_send", condition=~Q(due=None))
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.webhook}"

    @property
    def message_id(self) -> str:
        return f"msg_{self.message.hex}"

"""Where a team's programs are told what happens, and what is on its way to them."""

import base64
import secrets
import uuid
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from .teams import Team, default_team

SAID = 500  # characters that are kept of what a receiver answers


def fresh_salt() -> str:
    return secrets.token_hex(16)


class Webhook(models.Model):
    """An address that is sent what happens in a team's runs.

    events  the kinds of message that it wants
    salt    what its secret is made of, together with this server's SECRET_KEY: whoever reads the
            database alone cannot sign in this server's name
    note    why it was turned off by itself, if so
    """

    class Event(models.TextChoices):
        ACCEPTED = "worker.accepted", "a worker is accepted"
        REJECTED = "worker.rejected", "a worker is rejected"
        OPENED = "assignment.opened", "a worker has new questions to answer"
        ATTENTION = "run.needs_attention", "a run needs somebody to see to it"
        ENDED = "run.ended", "a run has ended"

    TEST = "webhook.test"  # a kind of message that is sent on demand

    team = models.ForeignKey(Team, models.CASCADE, default=default_team, related_name="webhooks")
    url = models.CharField("address", max_length=500)
    events = models.JSONField(default=list)
    on = models.BooleanField(default=True)
    salt = models.CharField(max_length=32, default=fresh_salt, editable=False)
    note = models.CharField(max_length=300, blank=True, default="", editable=False)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.url

    @property
    def secret(self) -> str:
        """What its messages are signed with, as the Standard Webhooks spell it."""
        key = salted_hmac("selection.webhook", self.salt, algorithm="sha256").digest()
        return f"whsec_{base64.b64encode(key).decode()}"

    def wants(self, kind: str) -> bool:
        return kind == self.TEST or kind in self.events


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def ready(self) -> "DeliveryQuerySet":
        """To be sent now. While a webhook is off only tests go out."""
        going = Q(webhook__on=True) | Q(kind=Webhook.TEST)
        return self.filter(going, due__lte=timezone.now())


class Delivery(models.Model):
    """One message to one webhook: to be sent while ``due`` is set, then its record.

    message  its id, the same however often it is sent
    body     as it is sent, and signed
    due      when it is sent next; None once it has arrived or was given up: this is the queue
    tries    how often it was sent since it was made, or since somebody had it sent again
    code     the HTTP status of the last answer; None where there was none
    said     how that answer began, or why there was none
    """

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    message = models.UUIDField(default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40)
    body = models.TextField()
    made = models.DateTimeField(db_index=True)
    due = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    tried = models.DateTimeField(null=True)
    code = models.PositiveSmallIntegerField(null=True)
    said = models.CharField(max_length=SAID, blank=True, default="")
    delivered = models.DateTimeField(null=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(
                fields=["webhook", "due"], name="delivery_to_send", condition=~Q(due=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.webhook}"

    @property
    def message_id(self) -> str:
        return f"msg_{self.message.hex}"

    @property
    def state(self) -> str:
        if self.due is not None:
            return "waiting" if self.tries == 0 else "to be tried again"
        return "delivered" if self.delivered else "given up"

    def keep(self, **changes: Any) -> None:
        """Write these columns, if it is still there."""
        for name, value in changes.items():
            setattr(self, name, value)
        Delivery.objects.filter(pk=self.pk).update(**changes)

"""What people and programs do with webhooks: make, change, try, send again."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from selection.errors import Conflict, Refused
from selection.limits import MOST_WEBHOOKS
from selection.models import Delivery, Team, Webhook
from selection.models.webhooks import fresh_salt

from . import outbox, safe_http

CHANGEABLE = ("url", "events", "on")


def create_webhook(
    team: Team | int | None, url: str, events: Sequence[str], on: bool = True
) -> Webhook:
    """A new webhook; its secret is shown once, by whoever asks for it now.

    Raises Refused for an address that nothing is sent to, or events that are none.
    """
    hook = Webhook(url=url, events=list(events), on=on)
    if team is not None:
        hook.team_id = team.pk if isinstance(team, Team) else team
    return add_webhook(hook)


def add_webhook(hook: Webhook) -> Webhook:
    """Store one that is new."""
    _refuse_more(hook)
    return _validate_webhook(hook)


def change_webhook(hook: Webhook, **changes: Any) -> Webhook:
    """Give it another address, other events, or turn it on or off. Raises as ``create`` does."""
    was_on = hook.on
    for name in CHANGEABLE:
        setattr(hook, name, changes.get(name, getattr(hook, name)))
    return save_webhook(hook, turned_on=hook.on and not was_on)


def save_webhook(hook: Webhook, turned_on: bool = False) -> Webhook:
    """Store one that was changed; if it was turned on again, what waits goes out."""
    hook.note = "" if turned_on else hook.note
    _validate_webhook(hook)
    if turned_on:
        outbox.request_delivery(hook.pk)
    return hook


def _validate_webhook(hook: Webhook) -> Webhook:
    hook.url = safe_http.check_url(hook.url)
    hook.events = [kind for kind in Webhook.Event.values if kind in validate_events(hook.events)]
    hook.save()
    return hook


def checked_url(url: str) -> str:
    """The address as it is kept. Raises Refused for one that nothing is sent to."""
    return safe_http.check_url(url)


def validate_events(events: Sequence[str]) -> set[str]:
    """These events; raises Refused for none, or one that is unknown."""
    wanted = set(events)
    if unknown := wanted - set(Webhook.Event.values):
        there = ", ".join(Webhook.Event.values)
        raise Refused(f"There is no event “{min(unknown)}”; there are {there}.")
    if not wanted:
        raise Refused("Choose one event at least, or nothing is ever sent.")
    return wanted


def _refuse_more(hook: Webhook) -> None:
    if Webhook.objects.filter(team=hook.team_id).count() >= MOST_WEBHOOKS:
        raise Refused(f"A team has at most {MOST_WEBHOOKS} webhooks; delete one first.")


def renew_secret(hook: Webhook) -> str:
    """Put a new secret in the place of the old one, which signs nothing more; returns it."""
    hook.salt = fresh_salt()
    hook.save(update_fields=["salt"])
    return hook.secret


@transaction.atomic
def send_test(hook: Webhook) -> Delivery:
    """Send a message that says nothing, once, also while it is off."""
    now = timezone.now()
    body = outbox.body_of(Webhook.TEST, {"words": "This is a test; nothing has happened."}, now)
    outbox.queue_messages([hook], [(Webhook.TEST, body)], now)
    return hook.deliveries.latest("id")


@transaction.atomic
def replay_delivery(delivery: Delivery) -> Delivery:
    """Send it again, under the same id, whether or not it has arrived.

    Raises Conflict while its webhook is off.
    """
    if not delivery.webhook.on and delivery.kind != Webhook.TEST:
        raise Conflict("This webhook is off: turn it on before anything is sent again.")
    delivery.keep(due=timezone.now(), tries=0)
    outbox.request_delivery(delivery.webhook_id)
    return delivery

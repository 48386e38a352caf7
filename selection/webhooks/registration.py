"""Management of webhooks: create, change, test and replay."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from selection import db_clock
from selection.errors import Conflict, Refused
from selection.http import safe_http
from selection.limits import MOST_WEBHOOKS
from selection.models import Delivery, Team, Webhook
from selection.models.webhooks import fresh_salt

from . import messages


def create_webhook(
    team: Team | int | None, url: str, events: Sequence[str], enabled: bool = True
) -> Webhook:
    """Create a webhook; its secret can be read from the result this once.

    Raises Refused for an unusable address or invalid events.
    """
    hook = Webhook(url=url, events=list(events), enabled=enabled)
    if team is not None:
        hook.team_id = team.pk if isinstance(team, Team) else team
    return add_webhook(hook)


def add_webhook(hook: Webhook) -> Webhook:
    if Webhook.objects.filter(team=hook.team_id).count() >= MOST_WEBHOOKS:
        raise Refused(f"A team has at most {MOST_WEBHOOKS} webhooks; delete one first.")
    return _validate_webhook(hook)


def change_webhook(hook: Webhook, **changes: Any) -> Webhook:
    """Change address or events, or turn it on or off. Raises Refused like ``create_webhook``."""
    was_on = hook.enabled
    for name, value in changes.items():
        setattr(hook, name, value)
    return save_webhook(hook, turned_on=hook.enabled and not was_on)


def save_webhook(hook: Webhook, turned_on: bool = False) -> Webhook:
    """Store a changed webhook; if it was turned on again, send its waiting messages."""
    hook.note = "" if turned_on else hook.note
    _validate_webhook(hook)
    if turned_on:
        messages.request_delivery(hook.pk)
    return hook


def _validate_webhook(hook: Webhook) -> Webhook:
    hook.url = safe_http.check_url(hook.url)
    hook.events = [kind for kind in Webhook.Event.values if kind in validate_events(hook.events)]
    hook.save()
    return hook


def validate_events(events: Sequence[str]) -> set[str]:
    """Make a set of these events. Raises Refused if there is none, or an unknown one."""
    kinds = set(events)
    if unknown := kinds - set(Webhook.Event.values):
        choices = ", ".join(Webhook.Event.values)
        raise Refused(f"There is no event “{min(unknown)}”; there are {choices}.")
    if not kinds:
        raise Refused("Choose one event at least, or nothing is ever sent.")
    return kinds


def renew_secret(hook: Webhook) -> str:
    """Replace the secret and return the new one; the old one signs nothing more."""
    hook.salt = fresh_salt()
    hook.save(update_fields=["salt"])
    return hook.secret


@transaction.atomic
def send_test(hook: Webhook) -> Delivery:
    """Send a test message once, even if the webhook is off."""
    now = db_clock.database_now()
    body = messages.body_of(Webhook.TEST, {"words": "This is a test; nothing has happened."}, now)
    messages.queue_messages([hook], [(Webhook.TEST, body)], now)
    return hook.deliveries.latest("id")


@transaction.atomic
def replay_delivery(delivery: Delivery) -> Delivery:
    """Send the delivery again under the same id, even if it has arrived.

    Raises Conflict while its webhook is off.
    """
    if not delivery.webhook.enabled and delivery.kind != Webhook.TEST:
        raise Conflict("This webhook is off: turn it on before anything is sent again.")
    delivery.keep(due=db_clock.database_now(), tries=0)
    messages.request_delivery(delivery.webhook_id)
    return delivery

"""Sending what is in the outbox: at least once each, again and again later where it fails."""

import random
import time
from datetime import timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone
from standardwebhooks import Webhook as Signer

from selection.models import Delivery, Webhook
from selection.models.webhooks import REPLY_LENGTH

from . import outbox, safe_http

# After the first try, the second, and so on; the last one is made 9 hours after the first.
DELAYS = [timedelta(seconds=s) for s in (5, 30, 120, 600, 1800, 7200, 21600)]
MOST_TRIES = len(DELAYS) + 1
SPREAD = 0.2  # of a delay, so that what failed together does not come again together
# Whoever takes a delivery has it for so long: if it is killed meanwhile, another sends it.
LEASE = timedelta(minutes=1)
# One task works for so long, then another goes on; and it gives up for now after so many failures.
AT_ONCE_SECONDS = 20.0
FAILURES = 3
KEPT = timedelta(days=30)
GONE = 410  # the answer that says: never again


def send_due(webhook_id: int) -> None:
    """Send what is due for this webhook, the oldest first."""
    outbox.mark_received(webhook_id)
    until, failures = time.monotonic() + AT_ONCE_SECONDS, 0
    while failures < FAILURES:
        if time.monotonic() > until:
            outbox.request_delivery(webhook_id)
            return
        delivery = _lease_next(webhook_id)
        if delivery is None:
            return
        failures = 0 if attempt_delivery(delivery) else failures + 1


def _lease_next(webhook_id: int) -> Delivery | None:
    """The next one, if there is any, kept from all others who send."""
    ready = Delivery.objects.ready().filter(webhook=webhook_id).order_by("due", "id")
    while (found := ready.select_related("webhook").first()) is not None:
        rows = Delivery.objects.filter(pk=found.pk, due=found.due)
        if rows.update(due=timezone.now() + LEASE):
            return found
    return None


def attempt_delivery(delivery: Delivery) -> bool:
    """Send it once, and write down what came of it; whether it arrived."""
    try:
        reply = safe_http.post_message(
            delivery.webhook.url, delivery.body.encode(), signed_headers(delivery)
        )
    except safe_http.NoAnswer as error:
        _record_failure(delivery, None, str(error))
        return False
    if reply.good:
        now = timezone.now()
        tries = delivery.tries + 1
        delivery.keep(
            due=None, tries=tries, tried=now, code=reply.code, said=reply.said, delivered=now
        )
        return True
    _record_failure(delivery, reply.code, reply.said)
    return False


def signed_headers(delivery: Delivery) -> dict[str, str]:
    """The headers, signed anew: a receiver refuses what was signed long ago."""
    now = timezone.now()
    signer = Signer(delivery.webhook.secret)
    return {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "CrowdSelect",
        "webhook-id": delivery.message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signer.sign(delivery.message_id, now, delivery.body),
    }


def _record_failure(delivery: Delivery, code: int | None, said: str) -> None:
    now, tries = timezone.now(), delivery.tries + 1
    last = tries >= MOST_TRIES or delivery.kind == Webhook.TEST
    due = None if last else now + DELAYS[tries - 1] * random.uniform(1 - SPREAD, 1 + SPREAD)
    delivery.keep(due=due, tries=tries, tried=now, code=code, said=said[:REPLY_LENGTH])
    if delivery.kind == Webhook.TEST:
        return
    if code == GONE:
        _turn_off(delivery.webhook, "Turned off: it answered 410, which says never again.")
    elif last and not _anything_since(delivery):
        words = str(code) if code else said
        _turn_off(
            delivery.webhook,
            f"Turned off: nothing arrived in {tries} tries since {delivery.made:%Y-%m-%d %H:%M} UTC"
            f"; the last answer was: {words}"[:300],
        )


def _anything_since(delivery: Delivery) -> bool:
    arrived = Delivery.objects.filter(webhook=delivery.webhook_id, delivered__gt=delivery.made)
    return arrived.exists()


def _turn_off(hook: Webhook, note: str) -> None:
    Webhook.objects.filter(pk=hook.pk).update(on=False, note=note)


def sweep_deliveries() -> None:
    """Have sent what is due and nobody was asked for; forget what is old."""
    ready = Delivery.objects.ready().filter(webhook=OuterRef("pk"))
    for pk in Webhook.objects.filter(Exists(ready)).values_list("pk", flat=True):
        outbox.request_delivery(pk)
    Delivery.objects.filter(made__lt=timezone.now() - KEPT).delete()

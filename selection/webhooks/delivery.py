"""Delivery of the outbox: at least once, with retries after failures."""

from datetime import timedelta

from django.db.models import Exists, OuterRef
from standardwebhooks import Webhook as Signer

from selection import db_clock
from selection.http import safe_http
from selection.models import Delivery, Webhook
from selection.models.webhooks import REPLY_LENGTH
from selection.outbox import queues
from selection.outbox.celery_messages import mark_received

from . import messages

# A task leases a delivery for this long; if the task is killed, another one sends it.
LEASE = timedelta(minutes=1)
FAILURES = 3  # in a row, after which a task gives up for now
KEPT = timedelta(days=30)
GONE = 410  # the status that ends a subscription


def send_due(webhook_id: int) -> None:
    """Send this webhook's due deliveries, oldest first."""
    mark_received(messages.TASK, webhook_id)
    queues.work_through(
        lambda: _lease_next(webhook_id),
        attempt_delivery,
        lambda: messages.request_delivery(webhook_id),
        FAILURES,
    )


def _lease_next(webhook_id: int) -> Delivery | None:
    ready = Delivery.objects.ready().filter(webhook=webhook_id).order_by("due", "id")
    while (delivery := ready.select_related("webhook").first()) is not None:
        if queues.lease_row(delivery, ready, LEASE):
            return delivery
    return None


def attempt_delivery(delivery: Delivery) -> bool:
    """Send the delivery once and record the outcome; return True if it arrived."""
    try:
        reply = safe_http.post_message(
            delivery.webhook.url, delivery.body.encode(), signed_headers(delivery)
        )
    except safe_http.NoAnswer as error:
        _record_failure(delivery, None, str(error))
        return False
    if reply.good:
        now = db_clock.database_now()
        tries = delivery.tries + 1
        delivery.keep(
            due=None, tries=tries, tried=now, code=reply.code, said=reply.said, delivered=now
        )
        return True
    _record_failure(delivery, reply.code, reply.said)
    return False


def signed_headers(delivery: Delivery) -> dict[str, str]:
    """Sign the headers afresh, since receivers refuse old signatures."""
    now = db_clock.database_now()
    signer = Signer(delivery.webhook.secret)
    return {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "CrowdSelect",
        "webhook-id": delivery.message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signer.sign(delivery.message_id, now, delivery.body),
    }


def _record_failure(delivery: Delivery, code: int | None, text: str) -> None:
    now, tries = db_clock.database_now(), delivery.tries + 1
    due = None if delivery.kind == Webhook.TEST else queues.retry_time(tries, now)
    delivery.keep(due=due, tries=tries, tried=now, code=code, said=text[:REPLY_LENGTH])
    if delivery.kind == Webhook.TEST:
        return
    if code == GONE:
        _turn_off(delivery.webhook, "Turned off: it answered 410, which says never again.")
    elif due is None and not _has_delivered_since(delivery):
        answer = str(code) if code else text
        _turn_off(
            delivery.webhook,
            f"Turned off: nothing arrived in {tries} tries since {delivery.made:%Y-%m-%d %H:%M} UTC"
            f"; the last answer was: {answer}"[:300],
        )


def _has_delivered_since(delivery: Delivery) -> bool:
    arrived = Delivery.objects.filter(webhook=delivery.webhook_id, delivered__gt=delivery.made)
    return arrived.exists()


def _turn_off(hook: Webhook, note: str) -> None:
    Webhook.objects.filter(pk=hook.pk).update(enabled=False, note=note)


def sweep_deliveries() -> None:
    """Request due deliveries whose message was lost; delete old ones."""
    ready = Delivery.objects.ready().filter(webhook=OuterRef("pk"))
    for pk in Webhook.objects.filter(Exists(ready)).values_list("pk", flat=True):
        messages.request_delivery(pk)
    Delivery.objects.filter(made__lt=db_clock.database_now() - KEPT).delete()

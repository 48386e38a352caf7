"""The outbox: messages are stored in the transaction that they report, each once."""

from collections.abc import Sequence

from selection import webhooks
from selection.models import Mail

TASK = "selection.tasks.send_mail"
CHUNK = 1000


def write_mails(mails: Sequence[Mail]) -> None:
    """Store these messages, without those of a name that is there, and request their delivery."""
    Mail.objects.bulk_create(mails, CHUNK, ignore_conflicts=True)
    if mails:
        request_delivery()


def request_delivery() -> None:
    """Request delivery of all due messages, a moment after the current transaction commits."""
    webhooks.request_task(TASK)


def mark_received() -> None:
    """Clear the request. Call before reading messages, so that no later request is lost."""
    webhooks.mark_task_received(TASK)

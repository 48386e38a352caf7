"""A mail server, and runs of workers with addresses."""

from collections.abc import Iterator

import pytest
from django.utils import timezone

from crowdselect.mail import delivery
from crowdselect.mail.models import Mail
from selection.models import Run, Worker
from tests.worlds import make_run

from .smtp_server import Mailbox, smtp_server


@pytest.fixture
def mailbox(settings) -> Iterator[Mailbox]:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_TIMEOUT = "127.0.0.1", 5
    with smtp_server() as (box, port):
        settings.EMAIL_PORT = port
        yield box


def address(key: str) -> str:
    return f"{key}@workers.example"


def make_reachable_run(n: int = 3, **fields: object) -> Run:
    """Return a started run; its workers w0, w1, … have addresses."""
    run = make_run(n=n, **fields)
    workers = list(Worker.objects.filter(pool=run.pool))
    for worker in workers:
        worker.mail_address = address(worker.key)
    Worker.objects.bulk_update(workers, ["mail_address"])
    return run


def send_all() -> None:
    """Send all waiting messages, also those waiting for another attempt."""
    Mail.objects.exclude(due=None).update(due=timezone.now())
    delivery.send_due()

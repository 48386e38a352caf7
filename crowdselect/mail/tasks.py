"""Celery tasks of the app."""

from celery import shared_task

from selection import actor
from selection.tasks import Patient

from . import delivery


@shared_task(base=Patient)
def send_mail() -> None:
    with actor.acting_as_part("mail"):
        delivery.send_due()

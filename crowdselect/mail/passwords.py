"""Requests for the link by which users set a password."""

from django.contrib.auth.models import User

from selection import db_clock

from . import delivery
from .models import Mail


def request_mail(user: User) -> None:
    """Have the link sent by e-mail, at most once in ten minutes: addresses can be typed often."""
    now = db_clock.database_now()
    name = f"password {user.pk} {now:%Y%m%d%H%M}"[:-1]
    mail = Mail(kind=Mail.Kind.PASSWORD, user=user, name=name, made=now, due=now, noted=True)
    Mail.objects.bulk_create([mail], ignore_conflicts=True)
    delivery.request_delivery()

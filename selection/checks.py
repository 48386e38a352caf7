"""System checks: a bad setting gets a number, a sentence and a hint, before anything starts."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

DATABASES = {"django.db.backends.sqlite3", "django.db.backends.postgresql"}
REDIS_SCHEMES = {"redis", "rediss", "unix"}


@register(Tags.compatibility)
def check_settings(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    return [*_addresses(), *_timing()]


def _addresses() -> Iterator[CheckMessage]:
    if settings.DATABASES["default"]["ENGINE"] not in DATABASES:
        yield Error(
            "DATABASE_URL names neither PostgreSQL nor SQLite.",
            hint="Use postgres://user:password@host:5432/name, or leave it out for SQLite.",
            id="crowdselect.E001",
        )
    if urlsplit(settings.REDIS_URL).scheme not in REDIS_SCHEMES:
        yield Error(
            f"REDIS_URL is “{settings.REDIS_URL}”, which is no Redis address.",
            hint="Use redis://host:6379/0, or leave it out for the bundled server.",
            id="crowdselect.E002",
        )
    public = urlsplit(settings.PUBLIC_URL)
    if public.scheme not in {"http", "https"} or not public.netloc:
        yield Error(
            f"PUBLIC_URL is “{settings.PUBLIC_URL}”; workers' links could not start with it.",
            hint="Use the address that workers reach, such as https://crowd.example.org.",
            id="crowdselect.E003",
        )


def _timing() -> Iterator[CheckMessage]:
    if not 0 <= settings.ADVANCE_DELAY_SECONDS <= 8:
        yield Error(
            f"ADVANCE_DELAY_SECONDS is {settings.ADVANCE_DELAY_SECONDS:g}.",
            hint="Use 0 to 8: the key that holds back a second message lasts 10 seconds.",
            id="crowdselect.E004",
        )
    if settings.CELERY_BEAT_SCHEDULE["sweep"]["schedule"] > 300:
        yield Warning(
            "SWEEP_SECONDS is over five minutes: overdue assignments stay open that much longer.",
            hint="Use 30.",
            id="crowdselect.W001",
        )

"""System checks of settings: a number, a sentence and a hint for each error, before the start."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connection

DATABASES = {"django.db.backends.sqlite3", "django.db.backends.postgresql"}
# The same as in Django's own check for deployment.
SHORTEST_KEY, FEWEST_CHARACTERS, INSECURE = 50, 5, "django-insecure-"
LOCAL = {"localhost", "127.0.0.1", "::1"}
REDIS_SCHEMES = {"redis", "rediss", "unix"}


@register(Tags.compatibility)
def check_settings(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    return [
        *_check_addresses(),
        *_check_timing(),
        *_check_security(),
        *_check_proxies(),
        *_check_sign_in(),
        *_check_monitoring(),
    ]


def _check_addresses() -> Iterator[CheckMessage]:
    if settings.DATABASES["default"]["ENGINE"] not in DATABASES:
        yield Error(
            "DATABASE_URL names neither PostgreSQL nor SQLite.",
            hint="Use postgres://user:password@host:5432/name, or leave it out for SQLite.",
            id="crowdselect.E001",
        )
    if urlsplit(settings.REDIS_URL).scheme not in REDIS_SCHEMES:
        yield Error(
            f"REDIS_URL is “{settings.REDIS_URL}”, which is not a Redis address.",
            hint="Use redis://host:6379/0, or leave it out for the bundled server.",
            id="crowdselect.E002",
        )
    public = urlsplit(settings.PUBLIC_URL)
    if public.scheme not in {"http", "https"} or not public.netloc:
        yield Error(
            f"PUBLIC_URL is “{settings.PUBLIC_URL}”; workers' links could not start with it.",
            hint="Use the address that workers reach, for example https://crowd.example.org.",
            id="crowdselect.E003",
        )


def _is_guessable(key: str) -> bool:
    return len(key) < SHORTEST_KEY or len(set(key)) < FEWEST_CHARACTERS or INSECURE in key


# Packages for error reports and traces, by the setting that enables them.
WATCHERS = {
    "SENTRY_DSN": ("SENTRY_DSN", "sentry_sdk", "sentry"),
    "OPENTELEMETRY": (
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "opentelemetry.instrumentation.auto_instrumentation",
        "opentelemetry",
    ),
}


def _check_monitoring() -> Iterator[CheckMessage]:
    for setting, (variable, module, extra) in WATCHERS.items():
        if getattr(settings, setting) and not _is_installed(module):
            yield Error(
                f"{variable} is set, but its package is not installed.",
                hint=f"Run .venv/bin/pip install '.[{extra}]', or leave it out.",
                id="crowdselect.E012",
            )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _check_security() -> Iterator[CheckMessage]:
    """Errors in settings that may be weak only with DEBUG."""
    if settings.DEBUG:
        return
    if any(map(_is_guessable, [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS])):
        yield Error(
            f"SECRET_KEY can be guessed, or one of SECRET_KEY_FALLBACKS: each must have "
            f"{SHORTEST_KEY} characters and no pattern.",
            hint="Leave it out to generate one. For several machines, use the one in "
            "var/secret-key, or: python -c 'import secrets; print(secrets.token_urlsafe(50))'",
            id="crowdselect.E005",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS has *: the sender of a request could choose the start of links.",
            hint="List the server's host names, separated by commas.",
            id="crowdselect.E006",
        )


def _check_proxies() -> Iterator[CheckMessage]:
    for proxy in settings.TRUSTED_PROXIES:
        if not _is_network(proxy):
            yield Error(
                f"TRUSTED_PROXIES has “{proxy}”, which is neither an address nor a network.",
                hint="Use addresses, for example 10.0.0.1 or 10.0.0.0/24, separated by commas.",
                id="crowdselect.E007",
            )


def _check_sign_in() -> Iterator[CheckMessage]:
    for provider in settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]:
        wrong = _find_provider_fault(provider)
        if wrong:
            name = provider["provider_id"].upper().replace("-", "_")
            yield Error(
                wrong.format(f"OIDC_{name}_"),
                hint="See docs/signing-in.md for each of these settings.",
                id="crowdselect.E009",
            )
    if settings.SECOND_FACTOR not in {"", "owners", "everybody"}:
        yield Error(
            f"SECOND_FACTOR is “{settings.SECOND_FACTOR}”.",
            hint="Use owners or everybody, or leave it out.",
            id="crowdselect.E010",
        )
    if settings.NEW_LOGINS_ROLE not in {"viewer", "manager"}:
        yield Error(
            f"NEW_LOGINS_ROLE is “{settings.NEW_LOGINS_ROLE}”.",
            hint="Use viewer or manager: only owners add owners.",
            id="crowdselect.E011",
        )


def _find_provider_fault(provider: dict[str, Any]) -> str:
    """Find a sentence with a placeholder for the prefix of the settings; "" if all are valid."""
    options = provider["settings"]
    server = urlsplit(options["server_url"])
    if not re.fullmatch("[a-z0-9-]+", provider["provider_id"]):
        return f"OIDC has “{provider['provider_id']}”: use letters, digits and hyphens."
    if not provider["client_id"] or not provider["secret"]:
        return "{0}CLIENT and {0}SECRET come from the provider: set both."
    if server.scheme != "https" and server.hostname not in LOCAL:
        return "{0}SERVER must be the provider's address, with https."
    if not options["domains"]:
        return "{0}DOMAINS must list the e-mail domains that may sign in, or * for all."
    return ""


def _is_network(text: str) -> bool:
    """Recognise a network other than the whole internet."""
    try:
        return ip_network(text).prefixlen > 0
    except ValueError:
        return False


def _check_timing() -> Iterator[CheckMessage]:
    if not 0 <= settings.ADVANCE_DELAY_SECONDS <= 8:
        yield Error(
            f"ADVANCE_DELAY_SECONDS is {settings.ADVANCE_DELAY_SECONDS:g}.",
            hint="Use 0 to 8: the key that holds back a second message lasts 10 seconds.",
            id="crowdselect.E004",
        )
    if settings.SWEEP_SECONDS > 300:
        yield Warning(
            "SWEEP_SECONDS is over five minutes: overdue assignments stay open that much longer.",
            hint="Use 30.",
            id="crowdselect.W001",
        )


@register(Tags.database)
def check_pooled_limits(databases: Any = None, **kwargs: Any) -> list[CheckMessage]:
    """Warn if locks may last for ever: a pooler drops the options with which we limit them."""
    if not getattr(settings, "DATABASE_POOLED", False) or "default" not in (databases or ()):
        return []
    missing = []
    with connection.cursor() as cursor:
        for name, value in settings.DATABASE_LIMITS.items():
            cursor.execute("SELECT current_setting(%s)", [name])
            if cursor.fetchone()[0] == "0":
                missing.append(f"ALTER ROLE CURRENT_USER SET {name} = '{value}';")
    if not missing:
        return []
    text = "DATABASE_POOLED is set, and the role of DATABASE_URL has no limits of locks."
    return [Warning(text, hint=f"Run {' '.join(missing)}", id="crowdselect.W002")]

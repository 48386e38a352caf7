"""Signal receivers: sign-ins and factors in the audit log; sessions end when a factor changes."""

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from selection import audit

from . import sessions
from .lockout import CODE_OF

Kind = Authenticator.Type
NAMES = {Kind.TOTP: "authenticator app", Kind.RECOVERY_CODES: "recovery codes"}


@receiver(user_login_failed)
def on_failed_login(
    sender: Any, credentials: dict[str, Any], request: Any = None, **signal: Any
) -> None:
    """Record failures of existing logins until lockout; strangers could fill the log otherwise."""
    username = str(credentials.get("username") or "")
    name = username.removeprefix(CODE_OF)
    tries = getattr(request, "axes_failures_since_start", None) or 0
    user = User.objects.filter(username=name).first() if "\0" not in name else None
    if user is not None and tries <= settings.AXES_FAILURE_LIMIT:
        wrong = "wrong password" if username == name else "wrong code"
        audit.record_entry("failed to sign in", user, who=name, why=wrong)


@receiver(post_save, sender=Authenticator)
@receiver(post_save, sender=SocialAccount)
def on_factor_added(sender: Any, instance: Any, created: bool, raw: bool, **signal: Any) -> None:
    if created and not raw:
        _record_factor_change("way in added", instance, after={"way": _factor_name(instance)})


@receiver(post_delete, sender=Authenticator)
@receiver(post_delete, sender=SocialAccount)
def on_factor_removed(sender: Any, instance: Any, **signal: Any) -> None:
    _record_factor_change("way in removed", instance, before={"way": _factor_name(instance)})


def _record_factor_change(kind: str, instance: Any, **values: Any) -> None:
    audit.record_entry(kind, instance.user, **values)
    sessions.end_sessions(instance.user)


def _factor_name(instance: Any) -> str:
    if isinstance(instance, SocialAccount):
        return instance.provider
    return NAMES.get(instance.type) or f"passkey “{instance}”"

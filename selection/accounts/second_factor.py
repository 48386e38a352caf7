"""Who needs a second factor, and that it can be taken away from whom has lost it."""

from collections.abc import Callable

from allauth.account.authentication import get_authentication_records
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from selection.models import Membership

from . import receivers, roles_of, sessions  # noqa: F401  (connects the first, where there are requests)
from .proxy_login import MARK

OWNERS, EVERYBODY = "owners", "everybody"
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
# Where one adds a factor, signs out, or changes the password.
STILL_OPEN = tuple(
    f"/admin/{place}/" for place in ("account", "login", "logout", "password_change", "sso")
)


class SecondFactor:
    """Middleware: whoever needs one and has none is led to the page where it is added."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        inside = request.path.startswith("/admin/") and not request.path.startswith(STILL_OPEN)
        if settings.SECOND_FACTOR and inside and _lacks_factor(request):
            return redirect("mfa_index")  # which says why
        return self.get_response(request)


def _lacks_factor(request: HttpRequest) -> bool:
    user = request.user
    return (
        isinstance(user, User)
        and needs_factor(user)
        and not _vouched_for(request)
        and not has_one(user)
    )


def needs_factor(user: User) -> bool:
    owns = user.is_superuser or Membership.Role.OWNER in roles_of(user).values()
    return settings.SECOND_FACTOR == EVERYBODY or (settings.SECOND_FACTOR == OWNERS and owns)


def has_one(user: User) -> bool:
    return Authenticator.objects.filter(user=user, type__in=FACTORS).exists()


def _vouched_for(request: HttpRequest) -> bool:
    """Whom a provider or a proxy vouches for has shown there whatever is asked there."""
    records = get_authentication_records(request, request.user)
    return MARK in request.session or any(one["method"] == "socialaccount" for one in records)


def take_away(user: User) -> int:
    """Of somebody who has lost them: passkeys, codes and app; returns how many."""
    mine = list(Authenticator.objects.filter(user=user))
    for one in mine:
        one.delete()
    sessions.end_sessions(user)
    return len(mine)

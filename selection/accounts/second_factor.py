"""Mandatory second factors, and their removal after a loss."""

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

OWNERS, EVERYBODY = "owners", "everybody"
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
# Pages to add a factor, sign out, or change the password.
STILL_OPEN = tuple(
    f"/admin/{place}/" for place in ("account", "login", "logout", "password_change", "sso")
)


class SecondFactor:
    """Middleware that redirects users without a required second factor to its setup page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        inside = request.path.startswith("/admin/") and not request.path.startswith(STILL_OPEN)
        if settings.SECOND_FACTOR and inside and _lacks_factor(request):
            return redirect("mfa_index")  # this page shows the reason
        return self.get_response(request)


def _lacks_factor(request: HttpRequest) -> bool:
    user = request.user
    return (
        isinstance(user, User)
        and needs_factor(user)
        and not _is_vouched_for(request)
        and not has_factor(user)
    )


def needs_factor(user: User) -> bool:
    owns = user.is_superuser or Membership.Role.OWNER in roles_of(user).values()
    return settings.SECOND_FACTOR == EVERYBODY or (settings.SECOND_FACTOR == OWNERS and owns)


def has_factor(user: User) -> bool:
    return Authenticator.objects.filter(user=user, type__in=FACTORS).exists()


def _is_vouched_for(request: HttpRequest) -> bool:
    """Recognise a sign-in by SSO: further factors are asked for there."""
    records = get_authentication_records(request, request.user)
    return any(record["method"] == "socialaccount" for record in records)


def remove_factors(user: User) -> int:
    authenticators = list(Authenticator.objects.filter(user=user))
    for authenticator in authenticators:
        authenticator.delete()
    sessions.end_sessions(user)
    return len(authenticators)

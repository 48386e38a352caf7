"""Sign-in by a proxy: the header in USER_HEADER names the user.

``crowdselect.web.forwarded_headers`` refuses the header from any address but a trusted proxy's, so
here it can be relied on.
"""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from selection.errors import Forbidden

from . import provisioning
from .adapters import BACKEND
from .pages import render_refusal

MARK = "by_proxy"  # marks sessions begun by the proxy's header


class ByProxy:
    """Middleware that signs in the proxy's user on the requester's pages.

    Workers need no login, and get no cookie.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.USER_HEADER and request.path.startswith("/admin/"):
            try:
                _switch_user(request, request.META.get(settings.USER_HEADER, "").strip())
            except Forbidden as refusal:
                return render_refusal(request, str(refusal), HTTPStatus.FORBIDDEN)
        return self.get_response(request)


def _switch_user(request: HttpRequest, name: str) -> None:
    """Sign in the user of the header in place of any other.

    Without the header, a session that it began ends; one that began with a password goes on.
    """
    if not name:
        if MARK in request.session:
            logout(request)
    elif request.user.get_username() != name or MARK not in request.session:
        user = _user_of_proxy(name)
        request.by_proxy = True  # type: ignore[attr-defined]  # for the audit log
        login(request, user, backend=BACKEND)
        request.session[MARK] = True


@transaction.atomic
def _user_of_proxy(name: str) -> User:
    """Find the user of this name, made at the first visit. Raises Forbidden for a bad name."""
    user = User.objects.filter(username=name).first() if "\0" not in name else None
    if user is None:
        user = User(username=name)
        user.set_unusable_password()
        try:
            user.full_clean()
        except ValidationError as error:
            raise Forbidden(f"The proxy says that you are “{name}”; that is no name.") from error
        user.save()
        provisioning.provision_user(user, by="proxy")
    if not user.is_active:
        raise Forbidden("This login was closed. Ask who manages the logins here.")
    return user

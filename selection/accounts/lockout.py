"""Lockout after repeated wrong passwords and codes, counted by django-axes in the database.

A wrong password counts for a name from one address, so that users cannot lock out colleagues. A
wrong code counts for a name from all addresses together: only users that know the password are
asked for one.
"""

from typing import Any

from axes.handlers.proxy import AxesProxyHandler
from axes.utils import reset
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest

CODE_OF = "second factor of "  # login names have no spaces, so this prefix is unambiguous


def lockout_parameters(tried: Any, credentials: dict[str, Any] | None = None) -> list[Any]:
    """Choose the parameters of an attempt to count by, for AXES_LOCKOUT_PARAMETERS.

    tried  a request, or a stored attempt
    """
    name = (credentials or {}).get("username") or getattr(tried, "username", "") or ""
    return ["username"] if name.startswith(CODE_OF) else [["username", "ip_address"]]


def is_code_locked(request: HttpRequest, user: User) -> bool:
    """Tell if the user's codes are refused at present; the response will say so."""
    if AxesProxyHandler.is_allowed(request, _login_filter(user)):
        return False
    request.axes_locked_out = True  # type: ignore[attr-defined]  # axes' middleware answers
    return True


def record_wrong_code(request: HttpRequest, user: User) -> None:
    user_login_failed.send(sender=__name__, credentials=_login_filter(user), request=request)


def reset_lockout(user: User) -> None:
    reset(username=_login_filter(user)["username"])


def _login_filter(user: User) -> dict[str, str]:
    return {"username": f"{CODE_OF}{user.get_username()}"}

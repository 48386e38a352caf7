"""What was wrong too often: passwords and codes, counted by django-axes in the database.

A password counts for a name from one address, so that nobody shuts a colleague out. A code counts
for a name from all addresses together: it is asked only of those who know the password.
"""

from typing import Any

from axes.handlers.proxy import AxesProxyHandler
from axes.utils import reset
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest

CODE_OF = "second factor of "  # no login's name has a space


def lockout_parameters(tried: Any, credentials: dict[str, Any] | None = None) -> list[Any]:
    """For AXES_LOCKOUT_PARAMETERS. tried: a request, or a stored attempt"""
    name = (credentials or {}).get("username") or getattr(tried, "username", "") or ""
    return ["username"] if name.startswith(CODE_OF) else [["username", "ip_address"]]


def many_codes(request: HttpRequest, user: User) -> bool:
    """Whether no code of theirs is looked at just now; if so, the answer will say that."""
    if AxesProxyHandler.is_allowed(request, _login_filter(user)):
        return False
    request.axes_locked_out = True  # type: ignore[attr-defined]  # axes' middleware answers
    return True


def wrong_code(request: HttpRequest, user: User) -> None:
    user_login_failed.send(sender=__name__, credentials=_login_filter(user), request=request)


def reset_lockout(user: User) -> None:
    reset(username=_login_filter(user)["username"])


def _login_filter(user: User) -> dict[str, str]:
    return {"username": f"{CODE_OF}{user.get_username()}"}

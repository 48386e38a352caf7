"""API tokens: look-up by secret, and scopes."""

import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from selection.models import ApiToken

Scope = ApiToken.Scope
NOTED_EVERY = timedelta(minutes=1)
REMEMBERED = 10_000  # cached tokens per process, at most
_TOKENS = ApiToken.objects.order_by()
# Cache by digest: the time until which a token is valid as read, and the token.
_read: dict[str, tuple[float, ApiToken]] = {}


def token_of_secret(secret: str) -> ApiToken | None:
    """Find the valid token of this secret, or None; record its use once a minute.

    A process looks a token up once a second at most (settings.TOKEN_SECONDS): a revoked one may
    stay valid for that long.
    """
    token, now = _find_token(ApiToken.digest_of(secret)), timezone.now()
    if token is None or not token.good(now):
        return None
    if token.used is None or token.used < now - NOTED_EVERY:
        _note_use(token, now)
    return token


def _find_token(digest: str) -> ApiToken | None:
    until, token = _read.get(digest, (0.0, None))
    if token is None or time.monotonic() >= until:
        token = next(iter(_TOKENS.filter(digest=digest)), None)
        if token is not None:  # wrong guesses must not fill the memory
            if len(_read) >= REMEMBERED:
                _read.clear()
            _read[digest] = time.monotonic() + settings.TOKEN_SECONDS, token
    return token


def _note_use(token: ApiToken, now: datetime) -> None:
    """Record the use; of several simultaneous requests only one writes."""
    old = Q(used=None) | Q(used__lt=now - NOTED_EVERY)
    ApiToken.objects.filter(old, pk=token.pk).update(used=now)
    token.used = now


def has_scope(token: ApiToken, *scopes: str) -> bool:
    """Tell if the token has one of these scopes, or the scope to manage."""
    return token.scope == Scope.MANAGE or token.scope in scopes


# Permissions that a user needs to create a token of this scope.
NEEDED = {
    Scope.READ: ("selection.view_run", "selection.view_answer"),
    Scope.ANSWER: ("selection.change_run",),
    Scope.MANAGE: ("selection.change_run", "selection.view_answer"),
}

"""Which token a secret is, and what it may do."""

import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from selection.models import ApiToken

Scope = ApiToken.Scope
NOTED_EVERY = timedelta(minutes=1)
REMEMBERED = 10_000  # at most, in each process
_TOKENS = ApiToken.objects.order_by()
# By digest: until when a token is taken as it was read, and the token.
_read: dict[str, tuple[float, ApiToken]] = {}


def token_of_secret(secret: str) -> ApiToken | None:
    """The token, if it opens anything still; that it was used is noted once a minute.

    A process looks it up once a second at most (settings.TOKEN_SECONDS): one that is revoked may
    open something for so long.
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
        if token is not None:  # else whoever guesses could fill the memory
            if len(_read) >= REMEMBERED:
                _read.clear()
            _read[digest] = time.monotonic() + settings.TOKEN_SECONDS, token
    return token


def _note_use(token: ApiToken, now: datetime) -> None:
    """Of several requests in this moment one writes."""
    old = Q(used=None) | Q(used__lt=now - NOTED_EVERY)
    ApiToken.objects.filter(old, pk=token.pk).update(used=now)
    token.used = now


def has_scope(token: ApiToken, *scopes: str) -> bool:
    """Whether it is of one of these scopes; one that manages may do all."""
    return token.scope == Scope.MANAGE or token.scope in scopes


# What somebody must be allowed themselves to hand it out.
NEEDED = {
    Scope.READ: ("selection.view_run", "selection.view_answer"),
    Scope.ANSWER: ("selection.change_run",),
    Scope.MANAGE: ("selection.change_run", "selection.view_answer"),
}

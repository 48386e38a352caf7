"""Which token a secret is, and what it may do."""

from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from selection.models import ApiToken

Scope = ApiToken.Scope
NOTED_EVERY = timedelta(minutes=1)
_TOKENS = ApiToken.objects.order_by()


def of_secret(secret: str) -> ApiToken | None:
    """The token, if it opens anything still; that it was used is noted once a minute."""
    token, now = next(iter(_TOKENS.filter(digest=ApiToken.digest_of(secret))), None), timezone.now()
    if token is None or not token.good(now):
        return None
    if token.used is None or token.used < now - NOTED_EVERY:
        _note(token, now)
    return token


def _note(token: ApiToken, now: datetime) -> None:
    """Of several requests in this moment one writes."""
    old = Q(used=None) | Q(used__lt=now - NOTED_EVERY)
    ApiToken.objects.filter(old, pk=token.pk).update(used=now)


def may(token: ApiToken, *scopes: str) -> bool:
    """Whether it is of one of these scopes; one that manages may do all."""
    return token.scope == Scope.MANAGE or token.scope in scopes


# What somebody must be allowed themselves to hand it out.
NEEDED = {
    Scope.READ: ("selection.view_run", "selection.view_answer"),
    Scope.ANSWER: ("selection.change_run",),
    Scope.MANAGE: ("selection.change_run", "selection.view_answer"),
}

"""Authorisation: the teams in which a user or API token has a permission."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from selection.models import ApiToken, Membership, Team
from selection.models.team_paths import path_of, team_of

from .roles import permission_name, permissions_of

# Ids of teams; None: all teams.
Teams = frozenset[int] | None
APP = "selection."
# Pseudo-permission of every member of a team: to know that its objects exist.
MEMBER = "member"


def teams_with(caller: Any, *permissions: str) -> Teams:
    """Find the teams in which a user or token has any of these permissions; None: all teams.

    caller  a user, or an API token: it has one team, and its scope was checked on entry

    A role's permissions hold in its team, a login's own in every team of the user.
    """
    if isinstance(caller, ApiToken):
        assert caller.team_id is not None  # every token has a team
        return frozenset([caller.team_id])
    if not caller.is_active:
        return frozenset()
    if caller.is_superuser:
        return None
    accepted, login_permissions = set(permissions), permissions_of_login(caller) | {MEMBER}
    return frozenset(
        team
        for team, role in roles_of(caller).items()
        if accepted & (login_permissions | permissions_of(role))
    )


def scoped(rows: Any, request: HttpRequest, *permissions: str) -> QuerySet[Any]:
    """Select the rows in the teams in which the caller has a permission.

    rows         a model or a queryset
    permissions  any of them is enough; default: to view or to change rows of this model
    """
    if isinstance(rows, type):
        rows = rows._default_manager.all()  # type: ignore[attr-defined]
    names = permissions or [permission_name(rows.model, action) for action in ("view", "change")]
    teams = teams_with(principal(request), *names)
    queryset: QuerySet[Any] = rows
    return queryset if teams is None else queryset.filter(**{f"{path_of(rows.model)}__in": teams})


def is_allowed(request: HttpRequest, permission: str, item: Model | None = None) -> bool:
    """Tell if the caller has the permission for this object; without one, in any team."""
    teams = teams_with(principal(request), permission)
    if teams is None:
        return True
    return bool(teams) if item is None else team_of(item) in teams


def principal(request: HttpRequest) -> Any:
    """Choose the API token of the request, or the signed-in user."""
    return getattr(request, "auth", None) or request.user


def has_multiple_teams(request: HttpRequest) -> bool:
    """Tell if the caller has more than one team; otherwise no page mentions teams."""
    caller = principal(request)
    if not hasattr(caller, "_several_teams"):
        teams = None if caller.is_superuser else frozenset(roles_of(caller))
        caller._several_teams = (Team.objects.count() if teams is None else len(teams)) > 1
    return bool(caller._several_teams)


def common_team(items: Iterable[Model]) -> bool:
    return len({team_of(item) for item in items}) < 2


# -- people


def roles_of(user: Any) -> dict[int, str]:
    """List a user's roles by team. While there is only one team, all staff own it."""
    if not hasattr(user, "_roles"):
        rows = Membership.objects.filter(user=user.pk)
        user._roles = dict(rows.values_list("team_id", "role")) or _only_team(user)
    roles: dict[int, str] = user._roles
    return roles


def _only_team(user: Any) -> dict[int, str]:
    teams = list(Team.objects.values_list("pk", flat=True)[:2]) if user.is_staff else []
    return {teams[0]: Membership.Role.OWN} if len(teams) == 1 else {}


def permissions_of_login(user: Any) -> set[str]:
    return ModelBackend().get_all_permissions(user)

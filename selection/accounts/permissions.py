"""The one decision: in which teams may this person, or this program, do that?"""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from selection.models import ApiToken, Membership, Team
from selection.models.team_paths import path_of, team_of

from .roles import permission_name, permissions_of

# Ids of teams; None is every team.
Teams = frozenset[int] | None
APP = "selection."
# Stands for a permission that everybody in a team has: to know that its things are there.
MEMBER = "member"


def teams_with(who: Any, *permissions: str) -> Teams:
    """The teams in which ``who`` has any of these permissions.

    who  a user, or an API token: that is of one team, and its scope was looked at at the door

    A role's permissions hold in its team, a login's own in every team that it belongs to.
    """
    if isinstance(who, ApiToken):
        assert who.team_id is not None  # no token is without
        return frozenset([who.team_id])
    if not who.is_active:
        return frozenset()
    if who.is_superuser:
        return None
    wanted, own = set(permissions), permissions_of_login(who) | {MEMBER}
    return frozenset(
        team for team, role in roles_of(who).items() if wanted & (own | permissions_of(role))
    )


def scoped(rows: Any, request: HttpRequest, *permissions: str) -> QuerySet[Any]:
    """Of these rows, or of this model's, those of the teams in which whoever asks may do that.

    permissions  any of them is enough; else, to look at or to change rows of this kind
    """
    if isinstance(rows, type):
        rows = rows._default_manager.all()  # type: ignore[attr-defined]
    wanted = permissions or [permission_name(rows.model, action) for action in ("view", "change")]
    teams = teams_with(principal(request), *wanted)
    found: QuerySet[Any] = rows
    return found if teams is None else found.filter(**{f"{path_of(rows.model)}__in": teams})


def is_allowed(request: HttpRequest, permission: str, item: Model | None = None) -> bool:
    """Whether whoever asks may do that to this; without it, in any team at all."""
    teams = teams_with(principal(request), permission)
    if teams is None:
        return True
    return bool(teams) if item is None else team_of(item) in teams


def principal(request: HttpRequest) -> Any:
    """The token that the API was called with, or the user who is signed in."""
    return getattr(request, "auth", None) or request.user


def has_multiple_teams(request: HttpRequest) -> bool:
    """Whether there is more than one team for whoever asks: else no page speaks of teams."""
    who = principal(request)
    if not hasattr(who, "_several_teams"):
        teams = None if who.is_superuser else frozenset(roles_of(who))
        who._several_teams = (Team.objects.count() if teams is None else len(teams)) > 1
    return bool(who._several_teams)


def common_team(items: Iterable[Model]) -> bool:
    """Whether all these belong to one team."""
    return len({team_of(item) for item in items}) < 2


# -- people


def roles_of(user: Any) -> dict[int, str]:
    """By team. While there is one team, whoever may sign in belongs to it."""
    if not hasattr(user, "_roles"):
        rows = Membership.objects.filter(user=user.pk)
        user._roles = dict(rows.values_list("team_id", "role")) or _only_team(user)
    found: dict[int, str] = user._roles
    return found


def _only_team(user: Any) -> dict[int, str]:
    teams = list(Team.objects.values_list("pk", flat=True)[:2]) if user.is_staff else []
    return {teams[0]: Membership.Role.OWN} if len(teams) == 1 else {}


def permissions_of_login(user: Any) -> set[str]:
    """Those given to the login itself, or to its groups."""
    return ModelBackend().get_all_permissions(user)

"""Django's own question, ``user.has_perm``, answered by roles."""

from typing import Any

from django.contrib.auth.backends import ModelBackend

from selection.models.team_paths import team_of

from .permissions import APP, permissions_of_login, roles_of
from .roles import permissions_of


class RoleBackend(ModelBackend):
    """With an object: in its team. Without: in any team, and what has nothing to do with teams."""

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if not user_obj.is_active or user_obj.is_anonymous:
            return set()
        own, roles = permissions_of_login(user_obj), roles_of(user_obj)
        if obj is not None:
            roles = {team: role for team, role in roles.items() if team == team_of(obj)}
        granted = set().union(*map(permissions_of, roles.values()))
        if obj is not None:
            return granted | own if roles else set()
        return granted | (own if roles else {one for one in own if not one.startswith(APP)})

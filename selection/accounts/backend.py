"""Django's ``user.has_perm``, answered by roles."""

from typing import Any

from django.contrib.auth.backends import ModelBackend

from selection.models.team_paths import team_of

from .permissions import APP, permissions_of_login, roles_of
from .roles import permissions_of


class RoleBackend(ModelBackend):
    """Backend that grants permissions by role: for an object in its team, otherwise in any team.

    Without an object, permissions of other apps count for users without a team as well.
    """

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if not user_obj.is_active or user_obj.is_anonymous:
            return set()
        login_permissions, roles = permissions_of_login(user_obj), roles_of(user_obj)
        if obj is not None:
            roles = {team: role for team, role in roles.items() if team == team_of(obj)}
        granted = set().union(*map(permissions_of, roles.values()))
        if obj is not None:
            return granted | login_permissions if roles else set()
        return granted | {name for name in login_permissions if roles or not name.startswith(APP)}

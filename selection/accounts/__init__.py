"""Authorisation: the teams and rows that a user or API token may see or change.

``scoped`` returns the rows that the caller may see, or do something to; ``is_allowed`` decides on
one object. Pages and API start from these two alone.
"""

from selection.models.team_paths import path_of, team_of

from . import rate_limits, tokens
from .backend import RoleBackend
from .permissions import MEMBER, common_team, has_multiple_teams, is_allowed, roles_of, scoped

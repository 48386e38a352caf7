"""Who may do what to which team's things: decided here, asked everywhere.

``scoped`` gives the rows that somebody may see, or do something to; ``allowed`` says it of one
object. Pages and API start from these and from nothing else.
"""

from selection.models.team_paths import path_of, team_of

from . import rate_limits, tokens
from .backend import RoleBackend
from .permissions import MEMBER, common_team, has_multiple_teams, is_allowed, roles_of, scoped

__all__ = [
    "MEMBER",
    "RoleBackend",
    "is_allowed",
    "common_team",
    "path_of",
    "rate_limits",
    "roles_of",
    "scoped",
    "has_multiple_teams",
    "team_of",
    "tokens",
]

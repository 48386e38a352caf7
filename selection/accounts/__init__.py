"""Who may do what to which team's things: decided here, asked everywhere.

``scoped`` gives the rows that somebody may see, or do something to; ``allowed`` says it of one
object. Pages and API start from these and from nothing else.
"""

from selection.models.team_paths import path_of, team_of

from . import rate_limits, tokens
from .backend import Roles
from .permissions import MEMBER, allowed, common_team, roles_of, scoped, several

__all__ = [
    "MEMBER",
    "Roles",
    "allowed",
    "common_team",
    "path_of",
    "rate_limits",
    "roles_of",
    "scoped",
    "several",
    "team_of",
    "tokens",
]

"""Who may do what to which team's things: decided here, asked everywhere.

``scoped`` gives the rows that somebody may see, or do something to; ``allowed`` says it of one
object. Pages and API start from these and from nothing else.
"""

from . import limits, tokens
from .backend import Roles
from .deciding import MEMBER, allowed, common_team, roles_of, scoped, several
from .paths import path_of, team_of

__all__ = [
    "MEMBER",
    "Roles",
    "allowed",
    "common_team",
    "limits",
    "path_of",
    "roles_of",
    "scoped",
    "several",
    "team_of",
    "tokens",
]

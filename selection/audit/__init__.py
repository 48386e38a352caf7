"""What people and programs did, written down beside it."""

from . import receivers  # noqa: F401  (connects them)
from .listing import FIELDS, lines
from .log import MANY, deleted, note

__all__ = ["FIELDS", "MANY", "deleted", "lines", "note"]

"""What people and programs did, written down beside it."""

from . import receivers  # noqa: F401  (connects them)
from .listing import FIELDS, lines
from .log import MANY, record_deletion, record_entry

__all__ = ["FIELDS", "MANY", "record_deletion", "lines", "record_entry"]

"""What people and programs did, written down beside it and chained, so that a gap shows."""

from . import receivers  # noqa: F401  (connects them)
from .chain import FIELDS, lines, seal, verify
from .replacing import replace
from .writing import MANY, deleted, note

__all__ = ["FIELDS", "MANY", "deleted", "lines", "note", "replace", "seal", "verify"]

"""What people and programs did, written down beside it and chained, so that a gap shows."""

from .chain import FIELDS, lines, seal, verify
from .writing import MANY, deleted, note

__all__ = ["FIELDS", "MANY", "deleted", "lines", "note", "seal", "verify"]

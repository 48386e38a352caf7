"""Audit log of the actions of users and programs."""

from . import receivers  # connects them
from .listing import FIELDS, list_entries
from .log import MANY, record_deletion, record_entry

__all__ = ["FIELDS", "MANY", "list_entries", "record_deletion", "record_entry"]

"""Audit log of the actions of users and programs."""

from selection.audit.log import FIELDS, list_entries

from . import receivers  # connects them
from .log import MANY, record_deletion, record_entry

__all__ = ["FIELDS", "MANY", "list_entries", "record_deletion", "record_entry"]

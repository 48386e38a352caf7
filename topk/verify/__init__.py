"""Recompute a run from its dump: the selection, its promise and its ε, or where they differ."""

from .dump_reader import (
    ANSWER,
    FORMAT,
    VERSION,
    DumpError,
    Record,
    canonical,
    digest_of,
    read,
    written_by,
)
from .findings import Finding
from .replaying import Replayed, replay
from .report import told
from .verdict import Verification, verify

__all__ = [
    "ANSWER",
    "FORMAT",
    "VERSION",
    "DumpError",
    "Finding",
    "Record",
    "Replayed",
    "Verification",
    "canonical",
    "digest_of",
    "read",
    "replay",
    "told",
    "verify",
    "written_by",
]

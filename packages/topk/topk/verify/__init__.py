"""Recompute a run from its dump: the selection, its guarantee and its ε, or where they differ."""

from .dump_reader import (
    ANSWER,
    FORMAT,
    VERSION,
    DumpError,
    DumpRecord,
    canonical_json,
    digest_of,
    read_record,
    written_by,
)
from .findings import Finding
from .replaying import ReplayedRun, replay_run
from .report import describe_verification
from .verdict import Verification, verify_dump

__all__ = [
    "ANSWER",
    "FORMAT",
    "VERSION",
    "DumpError",
    "DumpRecord",
    "Finding",
    "ReplayedRun",
    "Verification",
    "canonical_json",
    "describe_verification",
    "digest_of",
    "read_record",
    "replay_run",
    "verify_dump",
    "written_by",
]

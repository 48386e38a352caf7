"""Personal data of workers: export, erasure, retention."""

from .erasure import ErasureResult, erase_worker
from .export import export_worker
from .identity import runs_of, same_person
from .retention import RetentionCounts, apply_retention, count_due

__all__ = [
    "ErasureResult",
    "RetentionCounts",
    "apply_retention",
    "count_due",
    "erase_worker",
    "export_worker",
    "runs_of",
    "same_person",
]

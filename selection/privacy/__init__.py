"""What is kept about a worker: given out whole, taken away, and let go when its time is over."""

from .erasure import ErasureResult, erase_worker
from .export import export_worker
from .identity import runs_of, same_person
from .retention import RetentionCounts, apply_retention, count_due

__all__ = [
    "RetentionCounts",
    "ErasureResult",
    "count_due",
    "erase_worker",
    "export_worker",
    "same_person",
    "apply_retention",
    "runs_of",
]

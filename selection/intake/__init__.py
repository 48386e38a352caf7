"""What comes in: answers one by one and in bulk, workers and questions from files."""

from .answers import (
    Outside,
    Receipt,
    expire,
    lapse,
    record,
    record_many,
    refuse_response,
)
from .batches import record_batch
from .sorting import Sorting, sort, take

__all__ = [
    "Outside",
    "Receipt",
    "Sorting",
    "expire",
    "lapse",
    "record",
    "record_batch",
    "record_many",
    "refuse_response",
    "sort",
    "take",
]

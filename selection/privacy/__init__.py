"""What is kept about a worker: given out whole, taken away, and let go when its time is over."""

from .erasure import Erased, erase
from .export import export
from .identity import people, runs_of
from .retention import Due, due, retain

__all__ = ["Due", "Erased", "due", "erase", "export", "people", "retain", "runs_of"]

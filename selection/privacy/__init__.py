"""Personal data of workers: export, erasure, retention."""

from .erasure import erase_worker, preview_erasure
from .export import export_worker
from .identity import runs_of, same_person
from .retention import apply_retention, count_due

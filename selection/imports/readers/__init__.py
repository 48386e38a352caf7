"""Tables in files: their rows as texts, whatever they were saved as, in bounded time and memory.

It knows no database. What the columns mean is the affair of ``selection.intake``.
"""

from .encoding import ENCODINGS
from .table import Row, Table, read_table

__all__ = ["ENCODINGS", "Row", "Table", "read_table"]

"""Tables in files: their rows as texts, whatever they were saved as, in bounded time and memory.

It knows no database. What the columns mean is the affair of ``selection.intake``.
"""

from .limits import MOST_COLUMNS, MOST_ROWS
from .table import Row, Table, read_table
from .texts import ENCODINGS

__all__ = ["ENCODINGS", "MOST_COLUMNS", "MOST_ROWS", "Row", "Table", "read_table"]

"""Read tables from files: rows as texts, from any format, in bounded time and memory.

No database is used here. ``selection.imports`` interprets the columns.
"""

from .encoding import ENCODINGS
from .table import Row, Table, read_table

"""What can be taken away from a run, as files: for people, for programs, for platforms."""

from .formats import FORMATS, File, Format, find, grouped, make
from .report import content_policy, page
from .writing import Table, csv_file, json_text

__all__ = [
    "FORMATS",
    "File",
    "Format",
    "Table",
    "content_policy",
    "csv_file",
    "find",
    "grouped",
    "json_text",
    "make",
    "page",
]

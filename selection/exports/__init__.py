"""Exports of a run as files: for people, for programs, for platforms."""

from .formats import FORMATS, File, Format, find_format, formats_by_audience, make_file
from .report import content_policy, render_page
from .writing import ExportTable, csv_file, json_text

__all__ = [
    "FORMATS",
    "ExportTable",
    "File",
    "Format",
    "content_policy",
    "csv_file",
    "find_format",
    "formats_by_audience",
    "json_text",
    "make_file",
    "render_page",
]

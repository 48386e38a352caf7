"""Exports of a run as files: for people, for programs, for platforms."""

from .formats import AUDIENCES, FORMATS, File, Format, make_file
from .payment import find_prolific_amounts, prolific_amounts
from .report import content_policy, render_page
from .watches import WATCH_FILES, watch_file
from .writing import STYLES, CsvStyle, ExportTable, choose_style, csv_file, json_text

"""Every read that is more than a get. Nothing here writes."""

from .answers import (
    answer_columns,
    answer_rows,
    open_assignments,
    open_columns,
    open_table,
)
from .course import Progress, history, progress, with_counts
from .exports import COLUMNS, export, export_table
from .promises import assumptions, promise
from .workers import Line, Quota, SkillLine, quota_lines, skill_lines, standings

__all__ = [
    "COLUMNS",
    "Line",
    "Progress",
    "Quota",
    "SkillLine",
    "answer_columns",
    "answer_rows",
    "assumptions",
    "export",
    "export_table",
    "history",
    "open_assignments",
    "open_columns",
    "open_table",
    "progress",
    "promise",
    "quota_lines",
    "skill_lines",
    "standings",
    "with_counts",
]

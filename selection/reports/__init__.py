"""Every read that is more than a get. Nothing here writes."""

from selection.bandit import DOUBT, Fitted

from .answers import (
    answer_columns,
    answer_rows,
    open_assignments,
    open_columns,
    open_table,
)
from .course import Progress, history, progress, with_counts
from .exports import COLUMNS, export, export_table
from .fit import Fit, fit
from .promises import Pledge, interval, pledge, promise
from .workers import Line, Look, Quota, SkillLine, look, quota_lines, skill_lines, standings

__all__ = [
    "COLUMNS",
    "DOUBT",
    "Fit",
    "Fitted",
    "Line",
    "Look",
    "Pledge",
    "Progress",
    "Quota",
    "SkillLine",
    "answer_columns",
    "answer_rows",
    "export",
    "export_table",
    "fit",
    "history",
    "interval",
    "look",
    "open_assignments",
    "open_columns",
    "open_table",
    "pledge",
    "progress",
    "promise",
    "quota_lines",
    "skill_lines",
    "standings",
    "with_counts",
]

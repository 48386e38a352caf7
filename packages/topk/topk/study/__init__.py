"""Selection without a server: studies that survive a kill, and selection in one call."""

from .names import StudyError
from .result import Selected
from .select import aselect, select
from .study import Study

__all__ = ["Selected", "Study", "StudyError", "aselect", "select"]

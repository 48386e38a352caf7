"""Signs that workers share answers, each with its probability by chance; none enters a verdict.

A sign is a pattern that hardly ever occurs if workers answer independently. It has other causes
than sharing, too, and a person has to weigh them: so nothing here goes into a verdict.
``copying_power`` returns how often copying would be noticed.
"""

from .identical_errors import Pair, compare, identical_errors
from .power import copying_power
from .speed import QuickWorker, too_quick

__all__ = [
    "Pair",
    "QuickWorker",
    "compare",
    "copying_power",
    "identical_errors",
    "too_quick",
]

"""What a run will cost and whether it can end, before it is paid for.

Only ``orders`` and ``outlooks`` write, and only what a forecast itself has.
"""

from . import for_draft, orders, outlooks
from .beliefs import Belief, Past, Range, Usual, learned, like, past
from .plan import GOALS, Plan
from .refining import Forecast, forecasts
from .rows import of_runs
from .spending import Reach, reaches

__all__ = [
    "GOALS",
    "Belief",
    "Forecast",
    "Past",
    "Plan",
    "Range",
    "Reach",
    "Usual",
    "for_draft",
    "forecasts",
    "learned",
    "like",
    "of_runs",
    "orders",
    "outlooks",
    "past",
    "reaches",
]

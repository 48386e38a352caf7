"""What a run will cost and whether it can end, before it is paid for. Nothing here writes."""

from .beliefs import Belief, Past, Range, Usual, learned, past
from .plan import GOALS, Plan
from .refining import Forecast, forecasts
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
    "forecasts",
    "learned",
    "past",
    "reaches",
]

"""What a run will cost and whether it can end, before it is paid for.

Only ``orders`` and ``outlooks`` write, and only what a forecast itself has.
"""

from . import draft_forecast, forecast_requests, running_forecast
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
    "draft_forecast",
    "forecast_requests",
    "forecasts",
    "learned",
    "like",
    "of_runs",
    "past",
    "reaches",
    "running_forecast",
]

"""Forecasts: the cost of a run, and if it can end, before it is paid for.

Only ``forecast_requests`` and ``running_forecast`` write, and only forecasts.
"""

from . import draft_forecast, forecast_requests, no_shows, running_forecast
from .beliefs import (
    Belief,
    DefaultBelief,
    PastBelief,
    RangeBelief,
    belief_from_named_run,
    belief_from_run,
    list_past_runs,
    past_belief,
)
from .plan import GOALS, Plan
from .rows import Forecast

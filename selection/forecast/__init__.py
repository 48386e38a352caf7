"""What a run will cost and whether it can end, before it is paid for.

Only ``orders`` and ``outlooks`` write, and only what a forecast itself has.
"""

from . import draft_forecast, forecast_requests, running_forecast
from .beliefs import (
    Belief,
    DefaultBelief,
    PastBelief,
    RangeBelief,
    belief_from_named_run,
    belief_from_run,
    past_belief,
)
from .plan import GOALS, Plan
from .refining import Forecast, refine_forecasts
from .rows import share_of_runs
from .spending import ReachableEpsilon, search_reachable

__all__ = [
    "GOALS",
    "Belief",
    "Forecast",
    "PastBelief",
    "Plan",
    "RangeBelief",
    "ReachableEpsilon",
    "DefaultBelief",
    "draft_forecast",
    "forecast_requests",
    "refine_forecasts",
    "belief_from_named_run",
    "belief_from_run",
    "share_of_runs",
    "past_belief",
    "search_reachable",
    "running_forecast",
]

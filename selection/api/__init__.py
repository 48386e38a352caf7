"""The JSON API: parse, call one of setup / intake / reports, answer."""

from . import answers, expected, exports, forecasts, personal, runs, webhooks, workers  # noqa: F401
from .base import api

__all__ = ["api"]

"""The JSON API: parse, call one of setup / intake / reports, answer."""

from . import answers, expected, exports, forecasts, personal, runs, workers  # noqa: F401  (adds addresses)
from .base import api

__all__ = ["api"]

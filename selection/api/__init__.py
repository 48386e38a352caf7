"""The JSON API: parse, call one of setup / intake / reports, answer."""

from . import answers, expected, forecasts, runs, workers  # noqa: F401  (each adds addresses)
from .base import api

__all__ = ["api"]

"""The JSON API: parse, call one of setup / intake / reports, answer."""

from . import (  # noqa: F401  (each adds addresses)
    answers,
    expected,
    exports,
    forecasts,
    personal,
    runs,
    signs,
    workers,
)
from .base import api

__all__ = ["api"]

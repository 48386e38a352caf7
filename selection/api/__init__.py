"""The JSON API: parse, call one of setup / intake / reports, answer."""

from . import (  # noqa: F401  (each adds addresses)
    answers,
    expected,
    exports,
    forecasts,
    label_studio,
    personal,
    runs,
    submissions,
    webhooks,
    workers,
)
from .base import api

__all__ = ["api"]

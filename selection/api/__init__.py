"""The JSON API: parse, call one of setup / intake / reports, answer."""

from . import (  # noqa: F401  (each adds addresses)
    answers,
    drafts,
    expected,
    exports,
    files,
    forecasts,
    history,
    label_studio,
    media,
    personal,
    pools,
    practice,
    question_sets,
    questions,
    runs,
    signs,
    standings,
    submissions,
    told,
    webhooks,
    workers,
)
from .base import api

__all__ = ["api"]

"""JSON API: parse a request, call one of the other rooms, serialise the result."""

from . import (  # each adds addresses
    answers,
    connections,
    files,
    forecasts,
    jobs,
    media,
    model_servers,
    personal,
    pool_models,
    pools,
    practice,
    prolific,
    question_sets,
    questions,
    submissions,
    watches,
    webhooks,
    workers,
)
from .base import api
from .run import (  # each adds addresses
    calls,
    collusion,
    drafts,
    exports,
    forecast_draft,
    history,
    lifecycle,
    standings,
    worker_texts,
)

"""Changes of a request without which a server refuses it: learned from its refusal, then kept.

A mapping from names of parameters: to their successor, to None if it is left out, to True if set.
"""

import re
from collections.abc import Mapping
from typing import Any

from selection.models import Endpoint

from .completions import ServerError
from .prices import to_amount

Adjustments = Mapping[str, str | bool | None]
MOST_CHANGES = 4  # of one request
SUCCESSORS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
KEPT = {"model", "messages"}
_REFUSAL = re.compile(
    r"support|unknown|unrecogni|unexpected|not permitted|not allowed|\bextra\b|invalid|deprecat"
    r"|instead|must be|only the default",
    re.IGNORECASE,
)
_STREAM = re.compile(r"\bstream", re.IGNORECASE)


def adjust_body(body: Mapping[str, Any], adjustments: Adjustments) -> dict[str, Any]:
    adjusted = dict(body)
    for name, change in adjustments.items():
        if change is True:
            adjusted[name] = True
            if name == "stream" and "stream_options" not in adjustments:
                adjusted["stream_options"] = {"include_usage": True}
        elif name in adjusted:
            value = adjusted.pop(name)
            if change:
                adjusted[str(change)] = value
    return adjusted


def find_change(body: Mapping[str, Any], error: ServerError, made: Adjustments) -> Adjustments:
    """Find the change that the server's refusal of this body asks for; empty if it names none.

    The limit of output tokens is renamed, never left out: it bounds the cost.
    """
    if not _REFUSAL.search(error.words):
        return {}
    field = error.parameter.split(".")[0].split("[")[0]
    names = [name for name in body if name not in KEPT]
    if field not in names:
        field = next((name for name in names if _is_named(name, error.words)), "")
    if field in SUCCESSORS:
        successor = SUCCESSORS[field]
        return {} if field in made or successor in body else {field: successor}
    if field:
        return {} if field == "stream" else {field: None}
    if _STREAM.search(error.words) and "stream" not in body:
        return {"stream": True}
    return {}


def describe_server(endpoint: Endpoint) -> str:
    """Describe the server's deviations from the request in words; empty without any."""
    notices = []
    if changes := _list_changes(endpoint.adjustments):
        notices.append(f"The server refuses the request without changes: {', '.join(changes)}.")
    if endpoint.dearest:
        amount = f"{to_amount(endpoint.dearest).normalize():f}"
        notices.append(
            f"A reply cost {amount}, more than its request allowed: the server adds tokens, for "
            "example hidden thoughts. Twice as much is now reserved for each call."
        )
    return " ".join(notices)


def _list_changes(adjustments: Adjustments) -> list[str]:
    notes = []
    for name, change in adjustments.items():
        if change is True:
            notes.append(f"“{name}” is set")
        else:
            notes.append(f"“{change}” replaces “{name}”" if change else f"“{name}” is left out")
    return notes


def _is_named(name: str, words: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", words) is not None

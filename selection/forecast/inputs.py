"""Inputs of a forecast as numbers that can be stored, and an id made of all of them."""

import json
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import topk

from .beliefs import Belief, DefaultBelief, PastBelief, RangeBelief
from .plan import Plan

KINDS: dict[str, type[RangeBelief] | type[DefaultBelief] | type[PastBelief]] = {
    "range": RangeBelief,
    "usual": DefaultBelief,
    "past": PastBelief,
}


def belief_to_numbers(belief: Belief) -> dict[str, Any]:
    kind = next(name for name, belief_type in KINDS.items() if type(belief) is belief_type)
    return {"kind": kind, **asdict(belief)}  # type: ignore[call-overload]


def belief_from_numbers(numbers: dict[str, Any]) -> Belief:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in numbers.items()
        if name != "kind"
    }
    return KINDS[numbers["kind"]](**fields)


def forecast_id(plan: Plan, belief: Belief, team: int | None) -> UUID:
    inputs = [asdict(plan), belief_to_numbers(belief), code_digest(), team]
    return UUID(sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:32])


@cache
def code_digest() -> str:
    """Hash the code behind the numbers: changed code makes other numbers."""
    read = sha256()
    for folder in (Path(topk.__file__).parent, Path(__file__).parent):
        for file in sorted(folder.rglob("*.py")):
            read.update(file.read_bytes())
    return read.hexdigest()

"""The keyword arguments of a study, so that a type checker knows their names."""

from os import PathLike
from typing import Any, TypedDict


class AlgorithmOptions(TypedDict, total=False):
    """Options of single algorithms; each algorithm refuses those of others."""

    asked_open: bool
    beta: float
    c: float
    c_round: float
    cumulative: bool
    eta: float
    exploration: float
    half: bool
    mark: float
    matching: Any
    parameters: str
    planned_for: int
    quotas: Any
    schedule: str
    share: float
    tuned_for: float


class StudySettings(AlgorithmOptions, total=False):
    """Those of ``Study``."""

    k: int
    epsilon: float
    delta: float
    path: str | PathLike[str] | None
    algorithm: str
    accuracy: str | None
    budget: int | None
    prices: Any
    groups: Any
    scores: bool
    set_aside_after: int
    retry: bool
    seed: int


class SelectSettings(StudySettings, total=False):
    """Those of ``select``: besides, the ``rows`` of a table and the number ``n`` of workers."""

    batch: int | None
    rows: str | None
    n: int

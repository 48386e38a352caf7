"""Columns of the table of workers, and the shapes of verdicts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from selection.reports import WorkerStanding

# In order of interest to a requester, with a shape that distinguishes them without colour.
SHAPES = {
    "accepted": "▲",
    "settled in": "△",
    "undecided": "○",
    "settled out": "▽",
    "rejected": "▼",
    "not tested": "–",
}


VERDICTS = list(SHAPES)


@dataclass(frozen=True)
class TableColumn:
    name: str
    words: str
    key: Callable[[WorkerStanding], Any]
    about: str = ""


COLUMNS = [
    TableColumn("worker", "Worker", lambda line: line.worker.casefold()),
    TableColumn("answers", "Answers", lambda line: line.answers, "Answers that count"),
    TableColumn("right", "Right", lambda line: line.right),
    TableColumn("wrong", "Wrong", lambda line: line.wrong, "Answered in time, and not right"),
    TableColumn(
        "lapsed",
        "Late",
        lambda line: line.lapsed,
        "Shown to the worker and not answered in time; counts as not right",
    ),
    TableColumn(
        "mean",
        "Share right",
        lambda line: -1.0 if line.mean is None else line.mean,
        "Right answers of those that count",
    ),
    TableColumn(
        "lower", "From", lambda line: line.lower, "The least that the accuracy may be by now"
    ),
    TableColumn("upper", "To", lambda line: line.upper, "The most that the accuracy may be by now"),
    TableColumn("verdict", "Verdict", lambda line: -VERDICTS.index(line.verdict)),
]


KEYS = {column.name: column.key for column in COLUMNS}

"""The ledger of a run's calls as a table."""

from collections.abc import Iterator
from typing import Any

from selection.model_workers.prices import to_amount
from selection.models import ModelCall

from .context import ExportContext
from .writing import ExportTable, format_time

CHUNK = 2000
COLUMNS = [
    "id",
    "worker",
    "question",
    "attempt",
    "state",
    "sent",
    "closed",
    "cost",
    "tokens_in",
    "tokens_out",
    "milliseconds",
    "request_id",
    "result",
    "answer",
    "problem",
    "reply",
]


def calls_table(context: ExportContext) -> ExportTable:
    return ExportTable(COLUMNS, _rows(context), "Calls")


def _rows(context: ExportContext) -> Iterator[list[Any]]:
    rows = context.run.model_calls.select_related("worker", "question").order_by("pk")
    for call in rows.iterator(CHUNK):
        yield [_cell(call, name) for name in COLUMNS]


def _cell(call: ModelCall, name: str) -> Any:
    if name == "cost":
        return f"{to_amount(call.cost).normalize():f}"
    if name in ("worker", "question"):
        return getattr(call, name).key
    value = getattr(call, name)
    if name in ("sent", "closed"):
        return format_time(value)
    return "" if value is None else value

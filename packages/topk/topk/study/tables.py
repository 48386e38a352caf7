"""Tables of results: DataFrames, arrays and mappings, with a row for each candidate."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from topk.problem import ProblemError
from topk.selector import Floats

NO_TABLE = "answers must be a table of rewards from 0 to 1, a row for each worker, or a function."


class Table(NamedTuple):
    """Results of n named candidates on m items.

    values   (n, m), NaN where nobody asked
    library  the library of the DataFrame that it was, as narwhals knows it, or None
    """

    names: list[Any]
    items: list[Any]
    values: Floats
    library: Any = None


def read_table(given: Any, rows: str | None) -> Table:
    """Read the table. Raises ProblemError for one that is none, or that looks transposed.

    rows  what a row is, "candidates" or "items"; None: a candidate, unless there are more of them
          than items
    """
    if rows not in (None, "candidates", "items"):
        raise ProblemError(f"rows must be 'candidates' or 'items', but it is {rows!r}.")
    if isinstance(given, Mapping):
        table, rows = _read_mapping(given), rows or "candidates"
    elif hasattr(given, "__arrow_c_stream__"):
        table = _read_frame(given)
    else:
        values = _read_floats(given)
        table = Table(list(range(len(values))), list(range(values.shape[1])), values)
    if not ((table.values >= 0) & (table.values <= 1) | np.isnan(table.values)).all():
        raise ProblemError(NO_TABLE)
    n, m = table.values.shape
    if rows is None and n > m:
        raise ProblemError(
            f"The table has {n} rows and {m} columns, and looks transposed: a row is a candidate. "
            "Say rows='items' if each row is an item, rows='candidates' if there are so many."
        )
    if rows == "items":
        return Table(table.items, table.names, table.values.T, table.library)
    return table


def _read_floats(given: Any) -> Floats:
    try:
        values = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise ProblemError(NO_TABLE) from None
    if values.ndim != 2:
        raise ProblemError(NO_TABLE)
    return values


def _read_mapping(given: Mapping[Any, Any]) -> Table:
    """Read the results of each candidate, in a list or by item."""
    cells = [row if isinstance(row, Mapping) else dict(enumerate(row)) for row in given.values()]
    items = list(dict.fromkeys(item for row in cells for item in row))
    values = _read_floats([[row.get(item, np.nan) for item in items] for row in cells])
    return Table(list(given), items, values)


def _read_frame(given: Any) -> Table:
    """Read a DataFrame; its index names the rows, or a column of texts if that only counts."""
    narwhals = _import_narwhals()
    frame = narwhals.from_native(given, eager_only=True)
    index, names = narwhals.maybe_get_index(frame), list(range(len(frame)))
    if index is not None and list(index) != names:
        names = list(index)
    elif texts := [name for name in frame.columns if frame[name].dtype == narwhals.String]:
        names = frame[texts[0]].to_list()
        frame = frame.drop(texts[0])
    try:
        cells = [frame[name].cast(narwhals.Float64).to_numpy() for name in frame.columns]
    except Exception:  # each library has its own
        raise ProblemError(NO_TABLE) from None
    return Table(names, frame.columns, np.column_stack(cells), frame.implementation)


def _import_narwhals() -> Any:
    try:
        return import_module("narwhals.stable.v2")
    except ImportError:
        raise ProblemError("DataFrames need the package narwhals: pip install narwhals.") from None


def build_frame(rows: list[dict[str, Any]], library: Any) -> Any:
    """Build a DataFrame of this library, by candidate; the rows as they are without one."""
    if library is None:
        return rows
    narwhals = _import_narwhals()
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    frame = narwhals.from_dict(columns, backend=library)
    return narwhals.maybe_set_index(frame, "candidate").to_native()

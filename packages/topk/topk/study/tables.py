"""Tables of results: DataFrames, arrays and mappings, with a row for each candidate."""

from collections.abc import Hashable, Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from topk.problem import ProblemError
from topk.selector import Floats

NO_TABLE = "answers must be a table of rewards from 0 to 1, a row for each worker, or a function."
LONGEST_ROW = 5  # columns of a table that may have one result in each row
MOST_PAIRS = 4  # different rows of two answers, right or wrong


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
    _refuse_other_scale(table.values)
    n, m = table.values.shape
    if rows is None and n > m:
        raise ProblemError(
            f"The table has {n} rows and {m} columns, and looks transposed: a row is a candidate. "
            "Say rows='items' if each row is an item, rows='candidates' if there are so many."
        )
    if rows == "items":
        return Table(table.items, table.names, table.values.T, table.library)
    return table


def _refuse_other_scale(values: Floats) -> None:
    known = values[~np.isnan(values)]
    if known.size and not (known.min() >= 0 and known.max() <= 1):
        least, most = known.min(), known.max()
        raise ProblemError(
            f"A result must lie from 0 to 1, and those of the table lie from {least:g} to "
            f"{most:g}: rescale them, (x - least) / (most - least) with the ends of your scale."
        )


def _read_floats(given: Any) -> Floats:
    try:
        values = np.array(given, np.float64)
    except (TypeError, ValueError):
        if text := next((cell for row in _rows_of(given) for cell in row if _is_text(cell)), None):
            raise ProblemError(_describe_text(text, "The table")) from None
        raise ProblemError(NO_TABLE) from None
    if values.ndim != 2:
        raise ProblemError(NO_TABLE)
    return values


def _rows_of(given: Any) -> list[Any]:
    rows = list(given) if isinstance(given, Iterable) else []
    return [row for row in rows if isinstance(row, Iterable) and not isinstance(row, str)]


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str) and bool(cell)


def _describe_text(text: Any, where: str) -> str:
    return (
        f"{where} holds the text {str(text)[:40]!r}: a result is 1 for a right answer and 0 for a "
        "wrong one, so compare the answers with their key first."
    )


def _read_mapping(given: Mapping[Any, Any]) -> Table:
    """Read the results of each candidate, in a list or by item."""
    cells = [row if isinstance(row, Mapping) else dict(enumerate(row)) for row in given.values()]
    items = list(dict.fromkeys(item for row in cells for item in row))
    values = _read_floats([[row.get(item, np.nan) for item in items] for row in cells])
    return Table(list(given), items, values)


def _read_frame(given: Any) -> Table:
    """Read a DataFrame; its index names the rows, or a column of texts if that only counts."""
    narwhals = _import_narwhals()
    labels = list(getattr(given, "columns", []))
    if twice := [
        label for label in labels if isinstance(label, Hashable) and labels.count(label) > 1
    ]:
        raise ProblemError(
            f"The column {twice[0]!r} occurs twice: each item must have a name of its own."
        )
    frame = narwhals.from_native(given, eager_only=True)
    columns = dict(zip(frame.columns, frame.iter_columns(), strict=True))
    texts = [name for name, column in columns.items() if column.dtype == narwhals.String]
    _refuse_one_result_a_row(columns)
    index, names = narwhals.maybe_get_index(frame), list(range(len(frame)))
    if index is not None and list(index) != names:
        names = list(index)
    elif texts:
        names = columns.pop(texts.pop(0)).to_list()
    for name in texts:
        text = next(iter(columns[name].drop_nulls().to_list()), "")
        raise ProblemError(_describe_text(text, f"The column {name!r}"))
    cells = [_read_cells(column) for column in columns.values()]
    return Table(names, list(columns), _read_floats(cells).T, frame.implementation)


def _read_cells(column: Any) -> list[Any]:
    """Read the missing values of every library as NaN: not asked."""
    missing = column.is_null().to_list()
    return [np.nan if gone else cell for cell, gone in zip(column.to_list(), missing, strict=True)]


def _refuse_one_result_a_row(columns: dict[Any, Any]) -> None:
    """Refuse a table in long format: two columns together, neither alone, name each row."""
    names = list(columns)
    if not 3 <= len(names) <= LONGEST_ROW:
        return
    one, other = (list(map(str, columns[name].to_list())) for name in names[:2])
    rows = len(one)
    if max(len(set(one)), len(set(other))) == rows or len(set(zip(one, other, strict=True))) < rows:
        return
    if rows > MOST_PAIRS:
        candidate, item, value = names[0], names[1], names[-1]
        raise ProblemError(
            f"The table has one result in each row ({candidate}, {item}, {value}), but must have a "
            f"row for each candidate and a column for each item: frame.pivot(index={candidate!r}, "
            f"columns={item!r}, values={value!r})."
        )


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

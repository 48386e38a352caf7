"""Reading of numbers from many rows without an object for each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import FloatField, Func, QuerySet
from numpy.typing import NDArray

from .prepared_statements import execute_prepared

# PostgreSQL's type numbers, and the binary format of each.
TYPES = {16: "?", 20: ">i8", 21: ">i2", 23: ">i4", 701: ">f8"}
# An array is sent as the number of dimensions, a flag for nulls, the type's number, the number of
# entries and the lower bound; then every entry, after its length.
HEAD = np.dtype([(name, ">i4") for name in ("dimensions", "nulls", "type", "size", "first")])


class Seconds(Func):
    """The seconds of a moment since the epoch."""

    template, arity = "EXTRACT(epoch FROM %(expressions)s)::float8", 1
    output_field = FloatField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Add the fraction as written: SQLite's own functions round it to milliseconds."""
        (moment,) = self.get_source_expressions()
        sql, params = compiler.compile(moment)
        whole = f"CAST(strftime('%%s', substr({sql}, 1, 19)) AS REAL)"
        return f"({whole} + CAST(substr({sql}, 20) AS REAL))", (*params, *params)


def read_table(rows: QuerySet[Any], columns: Sequence[str]) -> NDArray[np.float64]:
    """Read the (columns, rows) array of these numbers. Raises ValueError if one is null."""
    try:
        sql, params = rows.values_list(*columns).query.sql_with_params()
    except EmptyResultSet:  # the conditions match no row
        return np.zeros((len(columns), 0))
    if connection.vendor == "postgresql":
        return _read_arrays(sql, params, len(columns))
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return np.array(cursor.fetchall(), np.float64).reshape(-1, len(columns)).T


def _read_arrays(sql: str, params: Sequence[Any], width: int) -> NDArray[np.float64]:
    """Read one row of whole columns: a little more work for the database, far less here."""
    names = [f"c{i}" for i in range(width)]
    arrays = ", ".join(f"array_agg({name})" for name in names)
    source = f"({sql}) AS given({', '.join(names)})"
    statement = f"SELECT {arrays} FROM {source}"  # noqa: S608
    with execute_prepared(statement, params, binary=True, prepare=False) as cursor:
        columns = [_parse_array(cursor.pgresult.get_value(0, i)) for i in range(width)]
    return np.array(columns, np.float64)


def _parse_array(sent: bytes | None) -> NDArray[Any]:
    """Parse PostgreSQL's binary array; None, the aggregate of no rows, gives an empty one."""
    if sent is None:
        return np.zeros(0)
    head = np.frombuffer(sent, HEAD, 1)[0]
    if head["nulls"]:
        raise ValueError("A column that may be null cannot be read as numbers.")
    entry = np.dtype([("length", ">i4"), ("value", TYPES[int(head["type"])])])
    return np.frombuffer(sent, entry, offset=HEAD.itemsize)["value"]

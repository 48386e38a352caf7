"""Read numbers of many rows without making an object of each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet
from numpy.typing import NDArray

from .prepared_statements import execute_prepared

# PostgreSQL's own numbers for the types of a column, and how it sends one.
TYPES = {16: "?", 20: ">i8", 21: ">i2", 23: ">i4", 701: ">f8"}
# An array is sent as how many dimensions it has, whether any entry is null, the type's number, how
# many entries there are and from which on they count; then every entry, after its length.
HEAD = np.dtype([(name, ">i4") for name in ("dimensions", "nulls", "type", "size", "first")])


def read_table(rows: QuerySet[Any], columns: Sequence[str]) -> NDArray[np.float64]:
    """(columns, rows) these numbers, none of which may be null."""
    try:
        sql, params = rows.values_list(*columns).query.sql_with_params()
    except EmptyResultSet:  # what is asked for holds of no row
        return np.zeros((len(columns), 0))
    if connection.vendor == "postgresql":
        return _read_arrays(sql, params, len(columns))
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return np.array(cursor.fetchall(), np.float64).reshape(-1, len(columns)).T


def _read_arrays(sql: str, params: Sequence[Any], width: int) -> NDArray[np.float64]:
    """One row of whole columns: a little more for the database, far less for this process."""
    names = [f"c{i}" for i in range(width)]
    arrays = ", ".join(f"array_agg({name})" for name in names)
    given = f"({sql}) AS given({', '.join(names)})"
    whole = f"SELECT {arrays} FROM {given}"  # nosec B608  # noqa: S608
    with execute_prepared(whole, params, binary=True, prepare=False) as cursor:
        found = [_parse_array(cursor.pgresult.get_value(0, i)) for i in range(width)]
    return np.array(found, np.float64)


def _parse_array(sent: bytes | None) -> NDArray[Any]:
    """An array as it is sent; None is what becomes of no rows."""
    if sent is None:
        return np.zeros(0)
    head = np.frombuffer(sent, HEAD, 1)[0]
    if head["nulls"]:
        raise ValueError("A column that may be null cannot be read as numbers.")
    entry = np.dtype([("length", ">i4"), ("value", TYPES[int(head["type"])])])
    return np.frombuffer(sent, entry, offset=HEAD.itemsize)["value"]

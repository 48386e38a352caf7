"""The lookup ``pk__among=ids``: one of these whole numbers, possibly many thousands."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db.models import Field, Lookup


@Field.register_lookup
class AnyLookup(Lookup):
    """A lookup like ``in`` that passes all numbers as one parameter: a list or a numpy array.

    With one parameter a number, building, parsing and planning the statement takes longer than the
    lookup itself.
    """

    lookup_name = "among"
    rhs: Iterable[int]

    def get_prep_lookup(self) -> str:
        """Write the numbers as text: Django compares conditions, and arrays cannot be compared."""
        return str(np.asarray(self.rhs, np.int64).tolist())[1:-1]

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        column, params = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s::bigint[])", (*params, f"{{{self._format_list()}}}")

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        column, params = self.process_lhs(compiler, connection)
        listed = f"[{self._format_list()}]"
        sql = f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608
        return sql, (*params, listed)

    def _format_list(self) -> str:
        if not self.rhs:
            raise EmptyResultSet
        return str(self.rhs)

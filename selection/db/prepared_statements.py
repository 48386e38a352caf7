"""Prepared statements: PostgreSQL keeps the plan of a statement that is sent over and over.

Django writes the values into a statement's text, so PostgreSQL parses and plans it anew each time:
that was nine tenths of the time to look up an assignment. Here they are passed beside the text.
Only for rows by their keys and rows to insert, for which one plan is the best for all values.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection


@contextmanager
def execute_prepared(sql: str, params: Sequence[Any], **how: bool) -> Iterator[Any]:
    """Yield the cursor of this statement, which is an ordinary one on other databases.

    how  binary: True for values in PostgreSQL's binary format. prepare: False plans it anew
    """
    if connection.vendor == "postgresql":
        server: Any = connection
        server.ensure_connection()
        with server.wrap_database_errors, server.Database.Cursor(server.connection) as cursor:
            yield cursor.execute(sql, params, **how)
    else:
        with connection.cursor() as cursor:
            cursor.execute(sql, params)
            yield cursor

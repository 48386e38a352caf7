"""Statements that are sent over and over: PostgreSQL keeps how it carries each out.

Django writes the values into a statement's text, so PostgreSQL reads and plans it anew each time:
that was nine tenths of looking up what an answer is to. Here they go beside the text. Only for
rows by their keys and rows to insert, where one plan is the best for all values.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection


@contextmanager
def execute_prepared(sql: str, params: Sequence[Any], **how: bool) -> Iterator[Any]:
    """The cursor of this statement. On other databases it is one like any other.

    how  binary: whether values come as PostgreSQL has them. prepare: False plans it anew
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

"""Everything, from one database into another of any kind: table by table, with its numbers."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import dj_database_url
from django.apps import apps
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import (
    DEFAULT_DB_ALIAS,
    DataError,
    IntegrityError,
    OperationalError,
    connections,
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model

from selection.errors import Conflict, Refused

HERE, THERE = DEFAULT_DB_ALIAS, "moved to"
KNOWN = ("django.db.backends.postgresql", "django.db.backends.sqlite3")
AT_ONCE = 2000


class CopiedTable(NamedTuple):
    """rows  as counted in the old database, and again in the new one"""

    table: str
    rows: int


def copy_database(address: str) -> list[CopiedTable]:
    """All rows of this database into the empty one of this address, which gets its tables first.

    Nobody should write meanwhile: on SQLite nobody can, and what PostgreSQL takes meanwhile stays
    behind. Raises Refused for a database that cannot be reached or is not empty, and where a row
    does not fit; there are no rows in it then.
    """
    connect_target(address)
    try:
        return _copy_tables(connections[HERE], connections[THERE])
    except OperationalError as error:
        raise Refused(f"A database cannot be used: {_first_difference(error)}.") from error
    finally:
        connections[THERE].close()


def connect_target(address: str) -> None:
    """Make the other database known to Django, as ``THERE``."""
    try:
        given = dj_database_url.parse(address)
    except ValueError:
        given = {}
    if given.get("ENGINE") not in KNOWN:
        raise Refused("Give a database as postgres://user:password@host/name or sqlite:////path.")
    both = {HERE: connections.settings[HERE], THERE: given}
    connections.settings[THERE] = connections.configure_settings(both)[THERE]
    if hasattr(connections._connections, THERE):  # type: ignore[attr-defined]
        del connections[THERE]


def _copy_tables(here: BaseDatabaseWrapper, there: BaseDatabaseWrapper) -> list[CopiedTable]:
    _refuse_unequal(here, there)
    call_command("migrate", database=THERE, verbosity=0, interactive=False)
    with transaction.atomic(HERE), transaction.atomic(THERE):
        _stand_still(here)
        _empty_tables(there)
        copied = [_copy_table(model, there) for model in copied_models()]
        _check_target(there)
    return copied


def copied_models() -> list[type[Model]]:
    found = apps.get_models(include_auto_created=True)
    return [model for model in found if model._meta.managed and not model._meta.proxy]


def _refuse_unequal(here: BaseDatabaseWrapper, there: BaseDatabaseWrapper) -> None:
    executor = MigrationExecutor(here)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise Conflict("This database is not up to date: run manage.py migrate first.")
    if found := there.introspection.table_names():
        raise Conflict(f"The other database is not empty: it has a table “{found[0]}”.")


def _stand_still(connection: BaseDatabaseWrapper) -> None:
    """What is read is of one moment. (SQLite lets nobody else write in a transaction.)"""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def _empty_tables(connection: BaseDatabaseWrapper) -> None:
    """Of what migrations put there: it comes again, with the numbers that it has."""
    names = [model._meta.db_table for model in copied_models()]
    for statement in connection.ops.sql_flush(no_style(), names, allow_cascade=True):
        with connection.cursor() as cursor:
            cursor.execute(statement)


def _copy_table(model: type[Model], there: BaseDatabaseWrapper) -> CopiedTable:
    name, rows = model._meta.db_table, _read_rows(model, there)
    quote = there.ops.quote_name
    columns = [quote(field.column) for field in _stored_fields(model)]
    places = ", ".join(["%s"] * len(columns))
    sql = f"INSERT INTO {quote(name)} ({', '.join(columns)}) VALUES ({places})"  # nosec B608  # noqa: S608
    try:
        with there.cursor() as cursor:
            while chunk := list(islice(rows, AT_ONCE)):
                cursor.executemany(sql, chunk)
    except (DataError, IntegrityError, ValueError) as error:
        raise Refused(f"A row of “{name}” does not fit: {_first_difference(error)}.") from error
    counts = [model._base_manager.using(alias).count() for alias in (HERE, THERE)]
    if counts[0] != counts[1]:
        raise Refused(f"“{name}” has {counts[0]:,} rows here and {counts[1]:,} there.")
    return CopiedTable(name, counts[0])


def _stored_fields(model: type[Model]) -> list[Any]:
    return [field for field in model._meta.local_concrete_fields if not field.generated]


def _read_rows(model: type[Model], there: BaseDatabaseWrapper) -> Iterator[list[Any]]:
    """As the other database takes them, in order of their keys."""
    fields = _stored_fields(model)
    found = model._base_manager.using(HERE).order_by("pk")
    for row in found.values_list(*(field.attname for field in fields)).iterator(AT_ONCE):
        yield [
            field.get_db_prep_save(value, there) for field, value in zip(fields, row, strict=True)
        ]


def _check_target(connection: BaseDatabaseWrapper) -> None:
    """That every row has what it points to, and that new rows get new numbers."""
    try:
        connection.check_constraints()
    except IntegrityError as error:
        raise Refused(
            f"A row points to one that is not there: {_first_difference(error)}."
        ) from error
    for statement in connection.ops.sequence_reset_sql(no_style(), copied_models()):
        with connection.cursor() as cursor:
            cursor.execute(statement)


def _first_difference(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")

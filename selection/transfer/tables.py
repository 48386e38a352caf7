"""Copy all rows from one database into another of any kind: table by table, with their numbers."""

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
from selection.models.candidate_arrays import DERIVED, CandidateChange
from selection.texts import counted

HERE, THERE = DEFAULT_DB_ALIAS, "moved to"
ENGINES = ("django.db.backends.postgresql", "django.db.backends.sqlite3")
AT_ONCE = 2000


class CopiedTable(NamedTuple):
    """A copied table with its number of rows, counted in both databases."""

    table: str
    rows: int


def copy_database(address: str) -> list[CopiedTable]:
    """Copy all rows of this database into the empty one at this address, after creating its tables.

    No process should write meanwhile: on SQLite none can, and rows that PostgreSQL takes meanwhile
    stay behind. Raises Refused for a database that cannot be reached or is not empty, and for a row
    that does not fit; the target has no rows then.
    """
    connect_target(address)
    try:
        return _copy_tables(connections[HERE], connections[THERE])
    except OperationalError as error:
        raise Refused(f"A database cannot be used: {_first_difference(error)}.") from error
    finally:
        connections[THERE].close()


def connect_target(address: str) -> None:
    """Register the other database with Django, as ``THERE``."""
    try:
        target = dj_database_url.parse(address)
    except ValueError:
        target = {}
    if target.get("ENGINE") not in ENGINES:
        raise Refused("Give a database as postgres://user:password@host/name or sqlite:////path.")
    databases = {HERE: connections.settings[HERE], THERE: target}
    connections.settings[THERE] = connections.configure_settings(databases)[THERE]
    if hasattr(connections._connections, THERE):  # type: ignore[attr-defined]
        del connections[THERE]


def _copy_tables(source: BaseDatabaseWrapper, target: BaseDatabaseWrapper) -> list[CopiedTable]:
    _refuse_unequal(source, target)
    call_command("migrate", database=THERE, verbosity=0, interactive=False)
    with transaction.atomic(HERE), transaction.atomic(THERE):
        _use_snapshot(source)
        _empty_tables(target)
        copied = [_copy_table(model, target) for model in copied_models()]
        CandidateChange.objects.using(THERE)._raw_delete(THERE)  # the copy of the candidates
        _check_target(target)
    return copied


def copied_models() -> list[type[Model]]:
    models = apps.get_models(include_auto_created=True)
    return [
        model
        for model in models
        if model._meta.managed and not model._meta.proxy and model not in DERIVED
    ]


def _refuse_unequal(source: BaseDatabaseWrapper, target: BaseDatabaseWrapper) -> None:
    executor = MigrationExecutor(source)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise Conflict("This database is not up to date: run manage.py migrate first.")
    if tables := target.introspection.table_names():
        raise Conflict(f"The other database is not empty: it has a table “{tables[0]}”.")


def _use_snapshot(connection: BaseDatabaseWrapper) -> None:
    """Read from one snapshot; SQLite has no other writers during a transaction."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def _empty_tables(connection: BaseDatabaseWrapper) -> None:
    """Delete the rows that migrations inserted: they are copied again, with their numbers."""
    names = [model._meta.db_table for model in copied_models()]
    for statement in connection.ops.sql_flush(no_style(), names, allow_cascade=True):
        with connection.cursor() as cursor:
            cursor.execute(statement)


def _copy_table(model: type[Model], target: BaseDatabaseWrapper) -> CopiedTable:
    name, rows = model._meta.db_table, _read_rows(model, target)
    quote = target.ops.quote_name
    columns = [quote(field.column) for field in _stored_fields(model)]
    places = ", ".join(["%s"] * len(columns))
    sql = f"INSERT INTO {quote(name)} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608
    try:
        with target.cursor() as cursor:
            while chunk := list(islice(rows, AT_ONCE)):
                cursor.executemany(sql, chunk)
    except (DataError, IntegrityError, ValueError) as error:
        raise Refused(f"A row of “{name}” does not fit: {_first_difference(error)}.") from error
    counts = [model._base_manager.using(alias).count() for alias in (HERE, THERE)]
    if counts[0] != counts[1]:
        raise Refused(f"“{name}” has {counted(counts[0], 'row')} here and {counts[1]:,} there.")
    return CopiedTable(name, counts[0])


def _stored_fields(model: type[Model]) -> list[Any]:
    return [field for field in model._meta.local_concrete_fields if not field.generated]


def _read_rows(model: type[Model], target: BaseDatabaseWrapper) -> Iterator[list[Any]]:
    fields = _stored_fields(model)
    stored = model._base_manager.using(HERE).order_by("pk")
    for row in stored.values_list(*(field.attname for field in fields)).iterator(AT_ONCE):
        yield [
            field.get_db_prep_save(value, target) for field, value in zip(fields, row, strict=True)
        ]


def _check_target(connection: BaseDatabaseWrapper) -> None:
    """Check the foreign keys, and let new rows continue the numbering."""
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

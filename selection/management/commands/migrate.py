"""``manage.py migrate``: Django's, but a migration is recorded in the transaction that applies it.

Django commits a migration first and records it after. If it were killed in between, the migration
would be applied again, and fail because its tables exist already.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.core.management.commands import migrate
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor


class RecordingExecutor(MigrationExecutor):
    """Executor with one transaction for a migration and its record."""

    def apply_migration(self, state: Any, migration: Migration, *args: Any, **kwargs: Any) -> Any:
        with _apply_atomically(self.connection, migration):
            return super().apply_migration(state, migration, *args, **kwargs)

    def unapply_migration(self, state: Any, migration: Migration, *args: Any, **kwargs: Any) -> Any:
        with _apply_atomically(self.connection, migration):
            return super().unapply_migration(state, migration, *args, **kwargs)


@contextmanager
def _apply_atomically(connection: BaseDatabaseWrapper, migration: Migration) -> Iterator[None]:
    with ExitStack() as stack:
        if migration.atomic and connection.features.can_rollback_ddl:
            if connection.vendor == "sqlite":  # which cannot do so within a transaction
                stack.enter_context(connection.constraint_checks_disabled())
            stack.enter_context(transaction.atomic(connection.alias))
        yield


migrate.MigrationExecutor = RecordingExecutor  # type: ignore[attr-defined]


class Command(migrate.Command):
    pass

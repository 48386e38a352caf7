"""``manage.py migrate``: Django's, with records that are as safe as the migrations, and a squash.

Django commits a migration first and records it after. If it were killed in between, the migration
would be applied again, and fail because its tables exist already. So it is recorded in the
transaction that applies it.

An empty database gets all tables by one squashed migration. A number after ``migrate selection``
names one of the migrations that it replaces, also on the way back: these are used then.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from django.core.management.commands import migrate
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

OURS = "selection"


class ReplacedMigrations(MigrationLoader):
    """Loader of our migrations without the squashed one."""

    def load_disk(self) -> None:
        super().load_disk()
        for key, migration in list(self.disk_migrations.items()):
            if key[0] == OURS and migration.replaces:
                del self.disk_migrations[key]


class RecordingExecutor(MigrationExecutor):
    """Executor with one transaction for a migration and its record."""

    def __init__(self, *args: Any, squashed: bool = True) -> None:
        super().__init__(*args)
        if not squashed:
            self.loader = ReplacedMigrations(self.connection)

    def migration_plan(self, targets: Any, clean_start: bool = False) -> Any:
        """Put ours last: each change of a table rebuilds the models that refer to it."""
        return super().migration_plan(sorted(targets, key=_is_ours), clean_start)

    def apply_migration(self, state: Any, migration: Migration, *args: Any, **kwargs: Any) -> Any:
        with _apply_atomically(self.connection, migration):
            return super().apply_migration(state, migration, *args, **kwargs)

    def unapply_migration(self, state: Any, migration: Migration, *args: Any, **kwargs: Any) -> Any:
        with _apply_atomically(self.connection, migration):
            return super().unapply_migration(state, migration, *args, **kwargs)


def _is_ours(target: tuple[str, str | None]) -> bool:
    return target[0] == OURS


@contextmanager
def _apply_atomically(connection: BaseDatabaseWrapper, migration: Migration) -> Iterator[None]:
    with ExitStack() as stack:
        if migration.atomic and connection.features.can_rollback_ddl:
            if connection.vendor == "sqlite":  # which cannot do so within a transaction
                stack.enter_context(connection.constraint_checks_disabled())
            stack.enter_context(transaction.atomic(connection.alias))
        yield


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        squashed = not (options["app_label"] == OURS and options["migration_name"])
        migrate.MigrationExecutor = partial(RecordingExecutor, squashed=squashed)  # type: ignore[attr-defined]
        super().handle(*args, **options)

"""``manage.py migrate``: Django's, with records that are as safe as the migrations.

Django commits a migration first and records it after. If it were killed in between, the migration
would be applied again, and fail because its tables exist already. So it is recorded in the
transaction that applies it.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from django.apps import apps
from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

OURS = ("selection", "crowdselect.")  # packages of the core and of the apps on top of it


class CreateTables(Operation):
    """Create all tables at once: one by one, each renders anew the models that it refers to."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        vars(state).pop("apps", None)  # rendered when it is next asked for
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in to_state.apps.get_app_config(app_label).get_models():
            if not model._meta.proxy:
                schema_editor.create_model(model)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in from_state.apps.get_app_config(app_label).get_models():
            if not model._meta.proxy:
                schema_editor.delete_model(model)


class RecordingExecutor(MigrationExecutor):
    """Executor with one transaction for a migration and its record."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        for (app, _), migration in self.loader.graph.nodes.items():
            if is_ours(app) and migration.initial:
                migration.operations = [CreateTables(migration.operations)]

    def migration_plan(self, targets: Any, clean_start: bool = False) -> Any:
        """Put ours last: each change of a table rebuilds the models that refer to it."""
        return super().migration_plan(sorted(targets, key=_is_our_target), clean_start)

    def apply_migration(self, state: Any, migration: Migration, *args: Any, **kwargs: Any) -> Any:
        with _apply_atomically(self.connection, migration):
            return super().apply_migration(state, migration, *args, **kwargs)

    def unapply_migration(self, state: Any, migration: Migration, *args: Any, **kwargs: Any) -> Any:
        with _apply_atomically(self.connection, migration):
            return super().unapply_migration(state, migration, *args, **kwargs)


def _is_our_target(target: tuple[str, str | None]) -> bool:
    return is_ours(target[0])


def is_ours(label: str) -> bool:
    config = apps.app_configs.get(label)  # None if the app is left out
    return config is not None and config.name.startswith(OURS)


@contextmanager
def _apply_atomically(connection: BaseDatabaseWrapper, migration: Migration) -> Iterator[None]:
    with ExitStack() as stack:
        if migration.atomic and connection.features.can_rollback_ddl:
            if connection.vendor == "sqlite":  # which cannot do so within a transaction
                stack.enter_context(connection.constraint_checks_disabled())
            stack.enter_context(transaction.atomic(connection.alias))
        yield


def _refuse_unknown(connection: BaseDatabaseWrapper) -> None:
    """Refuse a database from before 0.5.0, the first version with upgrades, or of a later one."""
    loader = MigrationLoader(connection)
    unknown = [
        name
        for app, name in loader.applied_migrations
        if is_ours(app) and (app, name) not in loader.disk_migrations
    ]
    if unknown:
        raise CommandError(
            "This database was made by another version of CrowdSelect, from which this one cannot "
            f"upgrade (migration {max(unknown)}): use that version, or a new database."
        )


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_unknown(connections[options["database"]])
        migrate.MigrationExecutor = RecordingExecutor  # type: ignore[attr-defined]
        super().handle(*args, **options)

"""``manage.py move_to``: copy the whole installation into another database."""

from typing import Any

from django.core.management import BaseCommand, CommandParser

from selection import transfer
from selection.management.lookups import report_refusals


class Command(BaseCommand):
    help = "Copy all tables into an empty database, PostgreSQL or SQLite: docs/migration.md."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address", help="as in DATABASE_URL: postgres://user@host/name")

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals():
            copied = transfer.copy_database(options["address"])
        for table, rows in copied:
            self.stdout.write(f"{rows:>12,}  {table}")
        total = sum(rows for _, rows in copied)
        self.stdout.write(
            f"{total:>12,}  rows in {len(copied)} tables, as many there as here. Now set "
            "DATABASE_URL to the new one, and start everything again."
        )

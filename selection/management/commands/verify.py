"""``manage.py verify``: check a dump, as ``python -m topk.verify`` does."""

import json
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from selection import reports
from selection.errors import Refused


class Command(BaseCommand):
    help = "Recompute a run's end from a file of dump_run, and say where the file says otherwise."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dump", type=Path, help="a file that dump_run wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            verification = reports.verify_dump(
                json.loads(options["dump"].read_text(encoding="utf-8"))
            )
        except OSError as error:
            raise CommandError(f"{options['dump']} cannot be read: {error}.") from error
        except ValueError as error:
            raise CommandError(f"{options['dump']} is no JSON: {error}.") from error
        except Refused as refusal:
            raise CommandError(str(refusal)) from refusal
        for line in reports.describe_verification(verification):
            self.stdout.write(line)
        if not verification.same:
            raise CommandError("The dump does not say what its answers say.", returncode=1)

"""``manage.py dump_run``: a run as a file from which anybody can recompute its end."""

import json
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import transaction

from selection import reports
from selection.errors import Refused
from selection.models import Run


class Command(BaseCommand):
    help = "Write all that a run is made of to a JSON file: docs/dumps.md. See verify."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=int, help="the run's number, as in its page's address")
        parser.add_argument("--out", type=Path, required=True, help="the file to write")
        parser.add_argument(
            "--anonymous",
            action="store_true",
            help="without who the workers are, what they wrote, and the questions' words",
        )

        parser.add_argument(
            "--media", action="store_true", help="with the pictures, sounds and films of questions"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            document = _document(options)
            text = json.dumps(document, ensure_ascii=False)
            options["out"].write_text(text + "\n", encoding="utf-8")
        except Refused as refusal:
            raise CommandError(str(refusal)) from refusal
        except OSError as error:
            raise CommandError(f"{options['out']} cannot be written: {error}.") from error
        self.stdout.write(
            f"{options['out']}: “{document['run']['name']}”, digest {document['digest']}"
        )


@transaction.atomic
def _document(options: dict[str, Any]) -> dict[str, Any]:
    """Of one moment: no step is taken meanwhile."""
    run = Run.objects.locked(options["run"])
    if run is None:
        raise CommandError(f"There is no run of number {options['run']}.")
    if options["anonymous"] and options["media"]:
        raise CommandError("An anonymous dump shows no questions, so it has no --media.")
    return reports.dump(run, options["anonymous"], options["media"])

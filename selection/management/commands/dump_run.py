"""``manage.py dump_run``: a run as a file from which anybody can recompute its end."""

from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from selection import reports
from selection.errors import Refused
from selection.models import Run
from selection.reports import DumpText


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
            text = _text(options)
            with options["out"].open("w", encoding="utf-8") as file:
                file.writelines(chain(text.pieces, "\n"))
        except Refused as refusal:
            raise CommandError(str(refusal)) from refusal
        except OSError as error:
            raise CommandError(f"{options['out']} cannot be written: {error}.") from error
        self.stdout.write(f"{options['out']}: “{text.name}”, digest {text.digest}")


def _text(options: dict[str, Any]) -> DumpText:
    run = Run.objects.filter(pk=options["run"]).first()
    if run is None:
        raise CommandError(f"There is no run of number {options['run']}.")
    if options["anonymous"] and options["media"]:
        raise CommandError("An anonymous dump shows no questions, so it has no --media.")
    return reports.dump_text(run, options["anonymous"], options["media"])

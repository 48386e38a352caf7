"""``manage.py dump_run``: a run as a file from which its end can be recomputed."""

from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser

from selection import reports
from selection.errors import Refused
from selection.facts import Facts
from selection.management.lookups import DASH, TEAM, report_refusals, run_of


class Command(BaseCommand):
    help = "Write all that a run is made of to a JSON file: docs/dumps.md. See verify."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", metavar="RUN", help=f"its name or number. {DASH}")
        parser.add_argument("--out", type=Path, required=True, help="the file to write")
        parser.add_argument(
            "--anonymous",
            action="store_true",
            help="without who the workers are, what they wrote, and the questions' words",
        )
        parser.add_argument(
            "--media", action="store_true", help="with the pictures, sounds and films of questions"
        )
        parser.add_argument("--team", default="", help=TEAM)

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals():
            text = _dump_text(options)
            with options["out"].open("w", encoding="utf-8") as file:
                file.writelines(chain(text.pieces, "\n"))
        self.stdout.write(f"{options['out']}: “{text.name}”, digest {text.digest}")


def _dump_text(options: dict[str, Any]) -> Facts:
    run = run_of(options["run"], options["team"])
    if options["anonymous"] and options["media"]:
        raise Refused("An anonymous dump shows no questions, so it has no --media.")
    return reports.dump_text(run, options["anonymous"], options["media"])

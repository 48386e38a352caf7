"""``manage.py sample``: create the sample pool, question set, run and watch, unless they exist."""

from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from selection.simulation import sample_run, sample_watch


class Command(BaseCommand):
    help = "Make the sample run if it is not there, and print its id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--gold-out", type=Path, help="CSV to write the known answers to, for the crowd"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run = sample_run.prepare_sample_run(options["gold_out"])
            sample_watch.prepare_sample_watch(run.pool, run.question_set)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CommandError(f"{options['gold_out']}: {reason}.", returncode=2) from error
        self.stdout.write(str(run.pk))

"""``manage.py explain``: why a worker stands where they stand in a run."""

import textwrap
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from selection import reports
from selection.errors import Refused
from selection.models import Candidate, spellings


class Command(BaseCommand):
    help = "Say in words, with the algorithm's numbers, what settled a worker's verdict."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=int, help="the run's number, as in its page's address")
        parser.add_argument("worker", help="the worker's id")

    def handle(self, *args: Any, **options: Any) -> None:
        found = Candidate.objects.filter(
            run=options["run"], worker__key__in=spellings([options["worker"]])
        )
        rows = list(found.select_related("run", "worker").order_by("skill"))
        if not rows:
            raise CommandError(
                f"There is no worker “{options['worker']}” in run {options['run']}, or no such run."
            )
        for row in rows:
            self._one(row)

    def _one(self, row: Candidate) -> None:
        try:
            found = reports.explain(row)
        except Refused as refusal:
            raise CommandError(str(refusal)) from refusal
        kind = f", {row.run.skills[row.skill]}" if row.run.several else ""
        self.stdout.write(f"{found.worker} in {row.run}{kind}")
        for heading, sentences in found.parts():
            self.stdout.write(f"\n{heading}")
            for sentence in sentences:
                self.stdout.write(
                    textwrap.fill(sentence, 78, initial_indent="  ", subsequent_indent="  ")
                )
        self.stdout.write("")

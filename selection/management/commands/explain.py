"""``manage.py explain``: the reasons for a worker's standing in a run."""

import textwrap
from typing import Any

from django.core.management import BaseCommand, CommandParser

from selection import reports
from selection.errors import NotFound
from selection.management.lookups import DASH, TEAM, report_refusals, run_of
from selection.models import Candidate, stored_spellings


class Command(BaseCommand):
    help = "Say in words, with the algorithm's numbers, what settled a worker's verdict."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", metavar="RUN", help=f"its name or number. {DASH}")
        parser.add_argument("worker", metavar="WORKER", help="the worker's id")
        parser.add_argument("--team", default="", help=TEAM)

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals():
            run = run_of(options["run"], options["team"])
            candidates = run.candidates.filter(
                worker__key__in=stored_spellings([options["worker"]])
            )
            rows = list(candidates.select_related("run", "worker").order_by("skill"))
            if not rows:
                raise NotFound(f"There is no worker “{options['worker']}” in the run “{run}”.")
            for row in rows:
                self._explain_candidate(row)

    def _explain_candidate(self, row: Candidate) -> None:
        explanation = reports.explain_candidate(row)
        kind = f", {row.run.skills[row.skill]}" if row.run.several else ""
        self.stdout.write(f"{row.worker} in {row.run}{kind}")
        for heading, sentences in explanation.parts.items():
            self.stdout.write(f"\n{heading}")
            for sentence in sentences:
                self.stdout.write(
                    textwrap.fill(sentence, 78, initial_indent="  ", subsequent_indent="  ")
                )
        self.stdout.write("")

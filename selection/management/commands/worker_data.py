"""``manage.py worker_data``: print all data about a worker, or erase their identity."""

import json
from typing import Any

from django.core.management import BaseCommand, CommandParser

from selection import actor, privacy
from selection.errors import NotFound
from selection.management.lookups import find_team, report_refusals
from selection.texts import counted


class Command(BaseCommand):
    help = "Print all that is kept about a worker, as JSON; or erase who they are."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("worker", help="the worker's id, in all pools of the team")
        parser.add_argument("--team", default="", help="the team's name; else the first team")
        parser.add_argument("--erase", action="store_true", help="there is no way back")
        parser.add_argument("--why", default="", help="the reason, for the audit log")

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals():
            rows = privacy.same_person(options["worker"], find_team(options["team"]))
            if not rows:
                raise NotFound(f"There is no worker “{options['worker']}” in this team.")
            if not options["erase"]:
                document = privacy.export_worker(rows)
                self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False))
                return
            who = actor.person() or "manage.py worker_data"
            erasure = privacy.erase_worker(rows, who, options["why"])
        self.stdout.write(
            f"They are {erasure.pseudonym} from now on, in {counted(len(erasure.runs), 'run')}."
        )

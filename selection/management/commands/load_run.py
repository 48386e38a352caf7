"""``manage.py load_run``: a run from a file of ``dump_run``, on this server."""

import json
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser

from selection import moving, reports
from selection.errors import NotFound, Refused
from selection.management.finding import refusals_said
from selection.models import Answer, Run, Team


class Command(BaseCommand):
    help = "Take up a run as it was where its dump was made: docs/moving.md."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dump", type=Path, help="a file that dump_run wrote, not anonymous")
        parser.add_argument("--team", default="", help="whose it is to be, if there are several")

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_said():
            document = _read(options["dump"])
            run, fresh = moving.load(document, _team(options["team"]))
        self.stdout.write(reports.origin(document))
        if not fresh:
            self.stdout.write(f"Run {run.pk} “{run}” is there already, the same.")
            return
        answers = Answer.objects.filter(run=run).count()
        self.stdout.write(f"Run {run.pk} “{run}”: {answers:,} answers, {run.steps:,} steps.")
        if run.status == Run.Status.PAUSED:
            self.stdout.write(
                "It is paused. Give its workers their new links, then: "
                f"manage.py run resume {run.pk}"
            )


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Refused(f"{path} is no JSON: {error}.") from error


def _team(name: str) -> Team:
    found = list(Team.objects.filter(name=name) if name else Team.objects.all()[:2])
    if not found:
        raise NotFound(f"There is no team “{name}”." if name else "There is no team yet.")
    if len(found) > 1:
        raise Refused("There are several teams: say which with --team.")
    return found[0]

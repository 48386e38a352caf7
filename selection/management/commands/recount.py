"""``manage.py recount``: are the figures of runs those of their answers?"""

import getpass
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from selection.errors import Conflict, NotFound
from selection.management.lookups import DASH, TEAM, refusals_said, run_of
from selection.models import Run, Team
from selection.runs import consistency


class Command(BaseCommand):
    help = (
        "Hold what is stored of runs against their assignments and answers: all that have begun, "
        "or those named. Ends with 1 where something does not hold."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "run",
            nargs="*",
            metavar="RUN",
            help=f"names or numbers of runs (default: all). {DASH}",
        )
        parser.add_argument("--repair", action="store_true", help="count anew what can be")
        parser.add_argument("--team", default="", help=TEAM)

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_said():
            runs = _find_runs(options["run"], options["team"])
        wrong = sum(self._check_run(run, options["repair"]) for run in runs)
        if wrong:
            raise CommandError(f"{wrong} of them: see above.", returncode=1)

    def _check_run(self, run: Run, repair: bool) -> bool:
        found = consistency.check_run(run)
        for fault in found:
            self.stdout.write(f"Run {run.pk} “{run}”: {fault.words}")
        if found and repair:
            found = consistency.repair_run(run, f"{getpass.getuser()} by command")
            left = f"{len(found)} left" if found else "all mended"
            self.stdout.write(f"Run {run.pk} “{run}”: counted anew; {left}.")
        elif not found:
            self.stdout.write(f"Run {run.pk} “{run}”: all holds.")
        return bool(found)


def _find_runs(named: list[str], team: str) -> list[Run]:
    """Each once. Raises NotFound, and Conflict for a draft."""
    if team and not Team.objects.filter(name=team).exists():
        raise NotFound(f"There is no team “{team}”.")
    begun = Run.objects.exclude(status=Run.Status.DRAFT).order_by("pk")
    if not named:
        return list(begun.filter(team__name=team) if team else begun)
    found = {run.pk: run for run in (run_of(words, team) for words in named)}
    for run in found.values():
        if run.status == Run.Status.DRAFT:
            raise Conflict(f"The run “{run}” has not begun, so there is nothing to recount.")
    return [found[pk] for pk in sorted(found)]

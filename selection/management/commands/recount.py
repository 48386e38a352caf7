"""``manage.py recount``: check the figures of runs against their answers, and repair them."""

import getpass
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from selection.errors import Conflict
from selection.management.lookups import DASH, TEAM, find_team, report_refusals, run_of
from selection.models import Run
from selection.runs import consistency


class Command(BaseCommand):
    help = (
        "Hold what is stored of runs against their assignments and answers: all that have begun, "
        "or those named. Ends with 1 where something does not hold."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "run", nargs="*", metavar="RUN", help=f"names or numbers of runs (default: all). {DASH}"
        )
        parser.add_argument("--repair", action="store_true", help="count anew what can be")
        parser.add_argument("--team", default="", help=TEAM)

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals():
            runs = _find_runs(options["run"], options["team"])
        wrong = sum(self._check_run(run, options["repair"]) for run in runs)
        if wrong:
            raise CommandError(f"{wrong} of them: see above.", returncode=1)

    def _check_run(self, run: Run, repair: bool) -> bool:
        faults = consistency.check_run(run)
        for fault in faults:
            self.stdout.write(f"Run {run.pk} “{run}”: {fault.words}")
        if faults and repair:
            faults = consistency.repair_run(run, f"{getpass.getuser()} by command")
            outcome = f"{len(faults)} left" if faults else "all mended"
            self.stdout.write(f"Run {run.pk} “{run}”: counted anew; {outcome}.")
        elif not faults:
            self.stdout.write(f"Run {run.pk} “{run}”: all holds.")
        return bool(faults)


def _find_runs(names: list[str], team: str) -> list[Run]:
    started = Run.objects.exclude(status=Run.Status.DRAFT).order_by("pk")
    if not names:
        return list(started.filter(team=find_team(team)) if team else started)
    by_pk = {run.pk: run for run in (run_of(name, team) for name in names)}
    for run in by_pk.values():
        if run.status == Run.Status.DRAFT:
            raise Conflict(f"The run “{run}” has not begun, so there is nothing to recount.")
    return [by_pk[pk] for pk in sorted(by_pk)]

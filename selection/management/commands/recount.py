"""``manage.py recount``: are the figures of runs those of their answers?"""

import getpass
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from selection.models import Run
from selection.setup import recount


class Command(BaseCommand):
    help = (
        "Hold what is stored of runs against their assignments and answers: all that have begun, "
        "or those named. Ends with 1 where something does not hold."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", nargs="*", type=int, help="number of a run; default: all")
        parser.add_argument("--repair", action="store_true", help="count anew what can be")

    def handle(self, *args: Any, **options: Any) -> None:
        wrong = sum(self._look(run, options["repair"]) for run in self._runs(options["run"]))
        if wrong:
            raise CommandError(f"{wrong} of them: see above.", returncode=1)

    def _runs(self, numbers: list[int]) -> list[Run]:
        begun = Run.objects.exclude(status=Run.Status.DRAFT).order_by("pk")
        found = list(begun.filter(pk__in=numbers) if numbers else begun)
        if missing := sorted(set(numbers) - {run.pk for run in found}):
            raise CommandError(f"No run that has begun has the number {missing[0]}.")
        return found

    def _look(self, run: Run, repair: bool) -> bool:
        found = recount.look(run)
        for fault in found:
            self.stdout.write(f"Run {run.pk} “{run}”: {fault.words}")
        if found and repair:
            found = recount.repair(run, f"{getpass.getuser()} by command")
            left = f"{len(found)} left" if found else "all mended"
            self.stdout.write(f"Run {run.pk} “{run}”: counted anew; {left}.")
        elif not found:
            self.stdout.write(f"Run {run.pk} “{run}”: all holds.")
        return bool(found)

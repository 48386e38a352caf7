"""Play a paper's experiments again, and say which of its claims the numbers bear out."""

from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from research import papers


class Command(BaseCommand):
    help = "Play a paper's experiments again, and say which of its claims the numbers bear out."

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("study", choices=list(papers.STUDIES), help="the paper, by its algorithm")
        add("--quick", action="store_true", help="a minute or so: few points, few plays")
        add("--runs", type=int, help="plays of each point")
        add("--processes", type=int, default=1)
        add("--out", type=Path, default=Path("var/reproduction"), help="folder for the results")

    def handle(self, *args: Any, **options: Any) -> None:
        plan = papers.Plan(
            options["study"],
            options["out"],
            options["quick"],
            options["runs"],
            options["processes"],
        )
        check(plan)
        try:
            self._reproduce(plan, quiet=options["verbosity"] == 0)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise CommandError(f"{plan.out}: {why}.", returncode=2) from error
        except KeyboardInterrupt:
            raise CommandError(
                "Interrupted; what was finished is kept, and the same command goes on from there.",
                returncode=130,
            ) from None

    def _reproduce(self, plan: papers.Plan, quiet: bool) -> None:
        total = papers.size(plan)
        with tqdm(total=total, unit=" cells", desc=plan.study, disable=quiet) as bar:
            result = papers.reproduce(plan, bar.update)
        if not quiet:
            self.stdout.write("\n".join([*result.summary, "", *map(str, result.files)]))


def check(plan: papers.Plan) -> None:
    """Refuse what argparse cannot."""
    for name, value in (("--runs", plan.runs), ("--processes", plan.processes)):
        if value is not None and value < 1:
            raise CommandError(f"{name} must be at least 1, but it is {value}.", returncode=2)

"""Measure whether the algorithms keep their promises, and what they cost."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from research.promises import cases, chart, delays, suite
from research.promises.measure import FULL, QUICK
from selection.errors import Refused

DOCS = settings.BASE_DIR / "docs" / "validation"
QUICK_OUT = settings.VAR_DIR / "validation"
BIG = 500


class Command(BaseCommand):
    help = (
        "Measure promise and cost of every algorithm: table and plots; an interrupted one goes on."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add(
            "--quick",
            action="store_true",
            help="few and short runs on pools below 500, in a minute",
        )
        add("--runs", type=int, help=f"runs a cell at most; {FULL.runs}, or {QUICK.runs} if quick")
        add("--seconds", type=float, help=f"processor time a cell, about; {FULL.seconds:g}")
        add("--only", nargs="+", default=[], metavar="NAME", help="these algorithms alone")
        add("--cases", nargs="+", default=[], metavar="NAME", help="on these pools alone")
        add("--crowds", type=Path, help="folder of recorded crowds: NAME.csv and NAME_gold.csv")
        kind = parser.add_mutually_exclusive_group()
        kind.add_argument(
            "--chart", action="store_true", help="answers against the size of the pool instead"
        )
        kind.add_argument(
            "--delays",
            action="store_true",
            help="what many assignments out at once cost instead, slow and lost ones too",
        )
        add("--out", type=Path, help=f"folder; {DOCS}, or {QUICK_OUT} if quick")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._measure(options)
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=2) from refusal
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.", returncode=2) from error
        except KeyboardInterrupt:
            raise CommandError("Interrupted; run it again to go on.", returncode=130) from None

    def _measure(self, options: dict[str, Any]) -> None:
        kind = chart if options["chart"] else delays if options["delays"] else suite
        made = kind.plan(plan(options))
        with tqdm(total=made.size, unit=" cells", disable=options["verbosity"] == 0) as bar:
            rows = kind.run(made, lambda cell: hear(bar, cell))
        for row in rows:
            if row.broken:
                self.stdout.write(f"Broken: {row.algorithm} on {row.case}, {row.rate:.1%} missed.")
        self.stdout.write(f"Written to {made.out}.")


def hear(bar: tqdm, cell: str) -> None:
    bar.set_description(cell, refresh=False)
    bar.update()


def plan(options: dict[str, Any]) -> suite.Plan:
    """What was asked for."""
    quick = options["quick"]
    base = QUICK if quick else FULL
    given = {name: options[name] for name in ("runs", "seconds") if options[name] is not None}
    if min(given.values(), default=1) <= 0:
        raise Refused("--runs and --seconds must be above 0.")
    known = [case for case in cases.suite(options["crowds"]) if not quick or case.n < BIG]
    pools = cases.named(known, options["cases"])
    out = options["out"] or (QUICK_OUT if quick else DOCS)
    return suite.Plan(pools, suite.algorithms(options["only"]), replace(base, **given), out)

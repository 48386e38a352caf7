"""``manage.py export``: a run as a file, in any of the formats on its page."""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser

from selection import exports
from selection.management.lookups import DASH, TEAM, parse_amount, report_refusals, run_of
from selection.simulation.writing import check_out, write_whole

STDOUT = Path("-")


class Command(BaseCommand):
    help = "Write a run that has begun to a file, or to standard output."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        listed = (
            f"  {entry.name:<18} {entry.title}: {entry.about}" for entry in exports.FORMATS.values()
        )
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.epilog = "formats:\n" + "\n".join(listed)
        parser.formatter_class = RawDescriptionHelpFormatter
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("run", metavar="RUN", help=f"its name or number. {DASH}")
        names, below = list(exports.FORMATS), "one of those below (default: csv)"
        add("--format", choices=names, default="csv", metavar="FORMAT", help=below)
        out = "- is standard output (default: that, and a file named as the run for a workbook)"
        add("--out", type=Path, metavar="FILE", help=out)
        title = "name of the qualification or skill; for mturk, mturk-revoke and toloka"
        add("--named", default="", metavar="NAME", help=f"{title} (default: as the run)")
        pay = "pay for an answer (default: what workers were told, else the run's price)"
        add("--pay", metavar="AMOUNT", help=f"for payment and the bonuses: {pay}")
        marks = "marks of a CSV file for people; semicolon: with decimal commas (default: comma)"
        add("--csv", choices=list(exports.STYLES), default="comma", help=marks)
        add("--team", default="", help=TEAM)

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals():
            run = run_of(options["run"], options["team"])
            file = exports.make_file(
                run,
                options["format"],
                options["named"],
                parse_amount("--pay", options["pay"]),
                exports.STYLES[options["csv"]],
            )
            out = options["out"] or (Path(file.name) if file.name.endswith(".xlsx") else STDOUT)
            if out == STDOUT:
                self._print_pieces(file.pieces)
                return
            check_out(out, [out.suffix.lower()])
            write_whole(out, lambda path: _write_file(path, file.pieces))
            if options["verbosity"]:
                self.stderr.write(f"Written: {out}")

    def _print_pieces(self, pieces: Iterable[bytes]) -> None:
        """Print as bytes if the stream takes them: a workbook is not text."""
        binary = getattr(getattr(self.stdout, "_out", None), "buffer", None)
        for piece in pieces:
            if binary is not None:
                binary.write(piece)
            else:
                self.stdout.write(piece.decode(), ending="")


def _write_file(path: Path, pieces: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(pieces)

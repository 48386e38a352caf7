"""The command ``python -m research reproduce``."""

import argparse
from pathlib import Path

from research.cells import Study
from research.options import ROOT, parse_positive

from . import studies
from .rows import Row

HELP = "play a paper's experiments again, and say which of its claims the numbers bear out"
OUT = ROOT / "var" / "reproduction"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    say = parser.add_argument
    say("paper", choices=list(studies.PAPERS), help="by its algorithm")
    say("--quick", action="store_true", help="a minute or so: few points, few plays")
    runs = "plays of each point (default: the number that suits the paper)"
    say("--runs", type=parse_positive, metavar="N", help=runs)
    out = "folder for the results (default: %(default)s)"
    say("--out", type=Path, default=OUT, metavar="FOLDER", help=out)


def build_study(options: argparse.Namespace) -> Study[Row]:
    """Return the study that the options describe."""
    return studies.build_study(options.paper, options.out, options.quick, options.runs)

"""The command ``python -m research validate``."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from research.cells import Study
from research.options import ROOT, above_zero, parse_positive

from . import (
    cases,
    chart,
    compared,
    crowds,
    delays,
    event_table,
    forecasts,
    pools,
    practice,
    suite,
)
from .measure import FULL, QUICK

HELP = "measure guarantee and cost of every algorithm: a table and plots"
DOCS, QUICK_OUT = ROOT / "research" / "docs" / "validation", ROOT / "var" / "validation"
BIG = 500


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    say = parser.add_argument
    say("--quick", action="store_true", help="few and short runs on pools below 500, in a minute")
    runs = f"runs a cell at most (default: {FULL.runs}, or {QUICK.runs} if quick)"
    say("--runs", type=parse_positive, metavar="N", help=runs)
    seconds = f"processor time a cell, about (default: {FULL.seconds:g}, or no end if quick)"
    say("--seconds", type=above_zero, metavar="S", help=seconds)
    say("--only", nargs="+", default=[], metavar="NAME", help="these algorithms (default: all)")
    say("--cases", nargs="+", default=[], metavar="NAME", help="on these pools (default: all)")
    recorded = f"folder of recorded crowds, NAME.csv and NAME{crowds.GOLD} (default: none)"
    say("--crowds", type=Path, metavar="FOLDER", help=recorded)
    out = f"folder for the results (default: {DOCS}, or {QUICK_OUT} if quick)"
    say("--out", type=Path, metavar="FOLDER", help=out)
    kind = parser.add_mutually_exclusive_group()
    growing = "answers against the size of the pool instead"
    kind.add_argument(
        "--chart", dest="kind", action="store_const", const=chart, default=suite, help=growing
    )
    late = "what many assignments out at once cost instead, slow and lost ones too"
    kind.add_argument("--delays", dest="kind", action="store_const", const=delays, help=late)
    about = "whether guarantees survive absence, wrong gold and withdrawals instead"
    kind.add_argument("--life", dest="kind", action="store_const", const=event_table, help=about)
    honest = "how often forecasts hold the true price instead, on pools they knew nothing of"
    kind.add_argument(
        "--forecasts", dest="kind", action="store_const", const=forecasts, help=honest
    )
    today = "what people do today instead, beside ours: what it costs, how often it is off"
    kind.add_argument("--practice", dest="kind", action="store_const", const=practice, help=today)
    table = (
        "ours, kl-lucb and what people do today in one table instead, on pools of its own; without "
        "end a cell, slow rules a fifth of the runs where there are more than 30 workers: hours"
    )
    kind.add_argument("--compare", dest="kind", action="store_const", const=compared, help=table)


def build_study(options: argparse.Namespace) -> Study[Any]:
    """Return the study that the options describe. Raises Refused."""
    in_one = options.kind is compared
    full = (compared.EFFORT if in_one else FULL), DOCS
    base, out = (QUICK, QUICK_OUT) if options.quick else full
    limits = {"runs": options.runs, "seconds": options.seconds}
    effort = replace(base, **{name: value for name, value in limits.items() if value is not None})
    recorded = crowds.recorded_crowds(options.crowds) if options.crowds else []
    usual = pools.list_pools() if in_one else cases.list_cases()
    choices = [case for case in [*usual, *recorded] if not options.quick or case.n < BIG]
    chosen, names = cases.cases_named(choices, options.cases), suite.algorithm_names(options.only)
    study: Study[Any] = options.kind.build_study(
        suite.StudySettings(chosen, names, effort, options.out or out)
    )
    return study

"""Options shared by the commands."""

import argparse
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def parse_positive(text: str) -> int:
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, but it is {value}")
    return value


def above_zero(text: str) -> float:
    if not (value := float(text)) > 0:
        raise argparse.ArgumentTypeError(f"must be above 0, but it is {value:g}")
    return value


def shared_options() -> argparse.ArgumentParser:
    """Return a parser of the options that every command has."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--processes",
        type=parse_positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes on this machine (default: one per core, %(default)s)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary")
    return parser
